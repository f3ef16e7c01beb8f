"""scikit-learn's own checks for every class, and common uses of estimators."""
import unittest
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import kindred
from common import ENTRIES, PartsTest, blobs, quiet

# Checks that cannot pass, with the reason. (class or "*", check): why
EXPECTED: dict = {}


def expected(name, check):
    return EXPECTED.get((name, check)) or EXPECTED.get(("*", check))


class Checks(PartsTest):
    def test_check_estimator(self):
        for entry in ENTRIES.values():
            if entry["family"] == "transfer" and "inductive" not in entry["flags"]:
                continue  # it learns from the samples to be labelled: no plain classifier
            name = entry["class"]
            for estimator, check in check_estimator(getattr(kindred, name)(), generate_only=True):
                which = check.func.__name__
                with self.subTest(f"{name}.{which}"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        check(estimator)
                    except unittest.SkipTest:
                        continue
                    except Exception:
                        if not expected(name, which):
                            raise


class Use(PartsTest):
    def setUp(self):
        self.x, self.y = blobs(1, n=90)

    def test_pipeline_grid_search_and_cross_validation(self):
        labels = quiet(make_pipeline(StandardScaler(), kindred.KMeans(n_clusters=3)).fit_predict, self.x)
        self.assertEqual(kindred.evaluate(labels, self.y)["acc"], 1)
        search = quiet(GridSearchCV(kindred.SVM(), {"cost": [.01, 1]}, cv=3).fit, self.x, self.y)
        self.assertEqual(search.best_score_, 1)
        np.testing.assert_array_equal(quiet(cross_val_predict, kindred.LogReg(), self.x, self.y, cv=3), self.y)

    def test_clone_and_parameters(self):
        for entry in ENTRIES.values():
            estimator = getattr(kindred, entry["class"])(random_state=9)
            self.assertEqual(clone(estimator).get_params(), estimator.get_params())
            self.assertIn(entry["references"][0][:20] if entry["references"] else "", estimator.__doc__)


if __name__ == "__main__":
    unittest.main()
