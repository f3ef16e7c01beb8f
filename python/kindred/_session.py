"""A context for one call: seed, threads, time limit, progress, Ctrl-C. SPDX-License-Identifier: BSD-3-Clause"""
import numbers

import numpy as np

from ._errors import check, text
from ._kindred import ffi, lib
from ._progress import Bar

_KINDS = {lib.KDR_EVENT_START: "start", lib.KDR_EVENT_ITERATION: "iteration", lib.KDR_EVENT_MESSAGE: "message",
          lib.KDR_EVENT_END: "end", lib.KDR_EVENT_WARNING: "warning"}


_DEVICE = [None]
_UNPACKED = [0]


def set_device(device):
    """Set where all following calls compute large matrix products.

    Parameters
    ----------
    device : {'auto', 'cpu', 'cuda', 'cuda:N'} or None
        The device. ``"auto"`` uses a GPU if one is available and the job is large
        enough to benefit. None restores the default, ``"auto"``.

    Raises
    ------
    ValueError
        If the device does not exist or is not available.

    See Also
    --------
    devices : List the available devices.

    Examples
    --------
    >>> import kindred
    >>> kindred.set_device("cpu")
    >>> kindred.set_device(None)
    """
    Session(device=device or "auto")
    _DEVICE[0] = device


def set_max_unpacked(size):
    """Set how much compressed files may unpack to in all following calls.

    Parameters
    ----------
    size : float or None
        Number of bytes. A file that unpacks to more is refused, because it may be
        damaged or made to exhaust the memory. None restores the default: 1 GB or, if
        larger, 10 times the size of ``.npz``, ``.xlsx`` and ``.mat`` files and 100
        times that of gzip and HDF5 files.

    See Also
    --------
    read : Read a data set from a file.

    Examples
    --------
    >>> import kindred
    >>> kindred.set_max_unpacked(20e9)
    >>> kindred.set_max_unpacked(None)
    """
    if size is not None and not (isinstance(size, numbers.Real) and size > 0):
        raise ValueError(f"size is {size!r}: use a number of bytes above 0, or None")
    _UNPACKED[0] = float(size or 0)


def devices():
    """List the devices that can compute large matrix products.

    Returns
    -------
    str
        One line per device, or one line that explains why there is no GPU.

    See Also
    --------
    set_device : Choose a device.

    Examples
    --------
    >>> import kindred
    >>> kindred.devices().startswith("device: ")
    True
    """
    out = ffi.new("char[]", 2048)
    lib.kdr_device_info(out, 2048)
    return text(out).strip()


def seed_of(random_state):
    """A seed from a random_state of scikit-learn: an int is used directly, as `--seed` is; None draws a new seed."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
    if isinstance(random_state, numbers.Integral):
        if not 0 <= random_state < 2 ** 64:
            raise ValueError(f"seed or random_state is {random_state}: it must be from 0 to 2**64 - 1")
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2 ** 31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2 ** 63 - 1))
    raise ValueError(f"seed or random_state is {random_state!r}: use an int, None, or a RandomState or Generator of NumPy")


class Session:
    """Owns a kdr_context. Every call of the library releases the GIL, and the progress callback acquires it, so that Ctrl-C can stop
    the library. KeyboardInterrupt is raised when the call has returned, with the best result so far."""

    def __init__(self, seed=1, threads=None, time_limit=None, progress=None, max_memory=None, device=None):
        out = ffi.new("kdr_context **")
        check(ffi.NULL, lib.kdr_context_new(out, ffi.NULL))
        self.ctx = ffi.gc(out[0], lib.kdr_context_free)
        self.interrupted = False
        self.error = None
        self.messages, self.warnings = [], []
        self._call = Bar() if progress is True else progress or None
        self._handle = ffi.new_handle(self)
        check(self.ctx, lib.kdr_context_protect_inputs(self.ctx))
        lib.kdr_context_set_seed(self.ctx, seed)
        if threads is not None:
            if not isinstance(threads, numbers.Integral) or threads < 0:
                raise ValueError(f"threads is {threads!r}: use a whole number of at least 0 (0: all cores)")
            lib.kdr_context_set_threads(self.ctx, int(threads))
        device = device or _DEVICE[0]
        if device is not None:
            check(self.ctx, lib.kdr_context_set_device(self.ctx, str(device).encode()))
        lib.kdr_context_set_progress(self.ctx, lib.kindred_progress, self._handle)
        lib.kdr_context_set_max_unpacked(self.ctx, _UNPACKED[0])
        if max_memory is not None:
            lib.kdr_context_set_max_memory(self.ctx, float(max_memory))
        if time_limit is not None:
            lib.kdr_context_set_time_limit(self.ctx, float(time_limit))

    def check(self, status, keeps=False):
        """Raises the error of a call. keeps: after Ctrl-C the caller uses the result, if there is one."""
        if isinstance(self._call, Bar):
            self._call.clear()
        if self.error is not None:
            raise self.error
        if self.interrupted and not (keeps and status == lib.KDR_OK):
            raise KeyboardInterrupt
        check(self.ctx, status)

    def event(self, event):
        """Handles one event of the library. Returns True to stop the call."""
        kind = _KINDS[event.kind]
        if kind == "message":
            self.messages.append(text(event.message))
        elif kind == "warning":
            self.warnings.append(text(event.message))
        if self._call is None:
            return False
        return bool(self._call({"kind": kind, "stage": text(event.stage), "message": text(event.message),
                                "iteration": event.iteration, "total": event.total, "objective": event.objective,
                                "seconds": event.seconds, "counted": text(event.counted), "fraction": event.fraction,
                                "remaining": event.remaining, "at_most": event.at_most}))


def _stop(kind, value, traceback):
    """Handles exceptions in the callback: Ctrl-C is recorded, and others are raised again after the call."""
    session = ffi.from_handle(traceback.tb_frame.f_locals["user"])
    if issubclass(kind, KeyboardInterrupt):
        session.interrupted = True
    else:
        session.error = value


@ffi.def_extern(error=1, onerror=_stop)
def kindred_progress(user, event):
    return int(ffi.from_handle(user).event(event))
