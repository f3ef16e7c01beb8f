"""Estimators and functions on a device: a plug-in that computes on the processor."""
import os
import re
import unittest

if os.environ.get("KINDRED_FAKE_PLUGIN"):
    os.environ["KINDRED_PLUGINS"] = os.environ["KINDRED_FAKE_PLUGIN"]

import numpy as np
from sklearn.base import clone

import kindred
from common import blobs


def calls():
    return int(re.search(r", (\d+) calls", kindred.devices()).group(1))


@unittest.skipUnless(os.environ.get("KINDRED_FAKE_PLUGIN"), "the plug-in of the tests was not built")
class Device(unittest.TestCase):
    def on_device(self, call):
        """The result of `call` on the device, which it must have used."""
        before = calls()
        found = call("cuda")
        self.assertGreater(calls(), before)
        return found

    def test_clusterers(self):
        a, b = blobs(1)[0], blobs(2, 50)[0]
        for make in (kindred.KMeans, kindred.MTCFIR, kindred.SNMF):
            with self.subTest(make.__name__):
                def fit(device):
                    return make(n_clusters=3, device=device).fit([a, b])
                before = calls()
                plain = fit("cpu")
                self.assertEqual(calls(), before)
                there = self.on_device(fit)
                for one, two in zip(plain.labels_, there.labels_):
                    np.testing.assert_array_equal(one, two)

    def test_transfer(self):
        (x, y), target = blobs(3), blobs(4, 60)[0]

        def fit(device):
            return kindred.NMTF(p1=2, p2=2, device=device).fit(x, y, target)
        np.testing.assert_array_equal(self.on_device(fit).transduction_, fit("cpu").transduction_)

    def test_parameter(self):
        model = kindred.KMeans(n_clusters=3, device="cuda:0")
        self.assertEqual(clone(model).get_params()["device"], "cuda:0")
        self.assertIsNone(kindred.SVM().get_params()["device"])
        x = blobs(1)[0]
        with self.assertRaisesRegex(ValueError, "cuda:7"):
            kindred.KMeans(n_clusters=3, device="cuda:7").fit(x)
        with self.assertRaisesRegex(ValueError, "auto, cpu, cuda or cuda:N"):
            model.set_params(device="gpu").fit(x)

    def test_for_all_calls(self):
        x = blobs(1)[0]
        kindred.set_device("cuda")
        try:
            self.on_device(lambda _: kindred.KMeans(n_clusters=3).fit(x))
            before = calls()
            kindred.KMeans(n_clusters=3, device="cpu").fit(x)  # one call's own word counts more
            self.assertEqual(calls(), before)
        finally:
            kindred.set_device(None)


if __name__ == "__main__":
    unittest.main()
