"""Every exported function with NULL for each of its pointers: an error or a neutral value, never a crash."""
import os
import sys
import tempfile
import unittest

import common  # noqa: F401 - finds the package
from kindred._kindred import ffi, lib

# Pointers that may be NULL: the call then goes on, and its status depends on the other arguments.
OPTIONAL = {
    "kdr_context_new": {1}, "kdr_context_set_device": {1}, "kdr_algo_require": {0, 1, 3}, "kdr_data_new": {3},
    "kdr_data_borrow": {3, 4}, "kdr_data_view": {2}, "kdr_read": {2}, "kdr_read_tasks": {3, 5}, "kdr_prepare": {3, 4},
    "kdr_write": {2}, "kdr_inspect_file": {2}, "kdr_generator_write": {4}, "kdr_vectorize": {3, 5},
    "kdr_fit": {3},
    "kdr_train_selector": {3}, "kdr_cluster": {3}, "kdr_stability": {4}, "kdr_transfer": {2},
    "kdr_predict": {3}, "kdr_relate": {3, 5}, "kdr_embed": {3}, "kdr_emd": {4, 5}, "kdr_result_json": {4}, "kdr_result_put": {3},
    "kdr_write_h5ad": {3, 6, 7, 8}, "kdr_mpi_agree": set(),
}


def world():
    """One object of each type, of a small fitted problem. Lists stand for pointers to several."""
    ctx = ffi.new("kdr_context **")
    assert lib.kdr_context_new(ctx, ffi.NULL) == 0
    ctx = ctx[0]
    lib.kdr_context_set_threads(ctx, 1)
    numbers = ffi.new("double[]", [0, 0, 0, 1, 1, 0, 9, 9, 9, 8, 8, 9])
    mat, data, result = ffi.new("kdr_mat *", lib.kdr_mat_from_dense(numbers, 6, 2)), ffi.new("kdr_data **"), ffi.new("kdr_result **")
    assert lib.kdr_data_new(ctx, ffi.new("char[]", b"a"), mat, ffi.NULL, data) == 0
    method, job = ffi.new("char[]", b"kmeans"), ffi.new("kdr_job_options *")
    lib.kdr_job_options_init(job)
    job.method, job.k = method, 2
    assert lib.kdr_cluster(ctx, data, 1, job, result) == 0
    model, options = ffi.new("kdr_model **"), ffi.new("kdr_options **")
    prep, design, generator = ffi.new("kdr_prep **"), ffi.new("kdr_design *"), ffi.new("kdr_generator **")
    assert lib.kdr_model_new(ctx, result[0], model) == 0
    assert lib.kdr_options_new(ctx, method, options) == 0
    assert lib.kdr_prepare(ctx, data, 1, ffi.NULL, prep) == 0
    lib.kdr_design_init(design, lib.KDR_DESIGN_BLOBS)
    assert lib.kdr_generate(ctx, design, generator) == 0
    task, problem = ffi.new("kdr_task *", {"x": mat[0], "k": 2}), ffi.new("kdr_problem *")
    lib.kdr_problem_init(problem)
    problem.tasks, problem.ntasks = task, 1
    sets = ffi.new("kdr_transfer_sets *")
    lib.kdr_transfer_sets_init(sets)
    sets.sources, sets.targets, sets.nsources, sets.ntargets = data, data, 1, 1
    out = {"kdr_context": ctx, "kdr_data": data[0], "kdr_result": result[0], "kdr_model": model[0], "kdr_options": options[0],
           "kdr_prep": prep[0], "kdr_generator": generator[0], "kdr_algo": lib.kdr_algo_at(0), "kdr_mat": mat,
           "kdr_problem": problem, "kdr_transfer_sets": sets, "kdr_job_options": job, "kdr_design": design,
           "kdr_data *": data}
    out["keep"] = [numbers, mat, data, result, method, model, options, prep, generator, task]
    for name in ("read", "prep", "text", "embed", "relate", "predict"):
        out[f"kdr_{name}_options"] = ffi.new(f"kdr_{name}_options *")
        getattr(lib, f"kdr_{name}_options_init")(out[f"kdr_{name}_options"])
    return out


def argument(type_, place, objects, keep):
    """Something that may be passed: an object, a text, or zeroed memory to write to."""
    if type_.kind == "primitive":
        return 1
    if type_.kind == "enum":
        return 0
    if type_.kind == "function" or (type_.kind == "pointer" and type_.item.kind == "function"):
        return ffi.NULL
    name = type_.item.cname.replace("const ", "").replace("struct ", "").strip()
    if name in objects:
        return objects[name]
    if name == "char":
        keep.append(ffi.new("char[]", os.path.join(place, "x.csv").encode()))
        return keep[-1]
    if name.replace(" ", "") in ("kdr_data*", "kdr_data*const"):
        return objects["kdr_data *"]
    if name.replace(" ", "") in ("char*", "char*const"):
        keep.append(ffi.new("char[]", b"x"))
        keep.append(ffi.new("char *[8]", [keep[-1]] * 8))
        return ffi.cast(type_, keep[-1])
    if name.replace(" ", "") in ("int64_t*", "int64_t*const"):
        keep.append(ffi.new("int64_t[64]"))
        keep.append(ffi.new("int64_t *[8]", [keep[-1]] * 8))
        return ffi.cast(type_, keep[-1])
    keep.append(ffi.new("char[16384]"))
    return ffi.cast(type_, keep[-1])


def run(name, missing):
    """In a child: calls a function with NULL at `missing` (None: everywhere). The exit status is that of the call, 0 without one."""
    objects, keep = world(), []
    function = getattr(lib, name)
    types = ffi.typeof(function).args
    with tempfile.TemporaryDirectory() as place:
        values = [ffi.NULL if t.kind == "pointer" and (missing is None or i == missing) else argument(t, place, objects, keep)
                  for i, t in enumerate(types)]
        if name.endswith("_free") and missing is not None:
            return 0  # what it would free is used elsewhere
        out = function(*values)
    return int(out) if ffi.typeof(function).result.cname == "kdr_status" else 0


def status_of(name, missing):
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = run(name, missing)
        except BaseException as e:  # noqa: BLE001 - told by its exit status
            print(name, missing, repr(e), file=sys.stderr)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Null(unittest.TestCase):
    def test_every_function(self):
        names = [n for n in dir(lib) if n.startswith("kdr_") and ffi.typeof(getattr(lib, n)).kind == "function"]
        self.assertGreater(len(names), 100)
        for name in names:
            if name.startswith("kdr_mat_"):  # inline, and documented to take a matrix
                continue
            type_ = ffi.typeof(getattr(lib, name))
            pointers = [i for i, t in enumerate(type_.args) if t.kind == "pointer"]
            status = type_.result.cname == "kdr_status"
            with self.subTest(function=name, pointers="all"):
                code = status_of(name, None)
                self.assertTrue(code >= 0 and code != 99, f"exit status {code}")
                if status and name != "kdr_algo_require":
                    self.assertEqual(code, lib.KDR_ERR_ARGUMENT)
            for i in pointers:
                with self.subTest(function=name, pointer=i):
                    code = status_of(name, i)
                    self.assertTrue(code >= 0 and code != 99, f"exit status {code}")
                    if status and i not in OPTIONAL.get(name, ()):
                        self.assertEqual(code, lib.KDR_ERR_ARGUMENT)


if __name__ == "__main__":
    unittest.main()
