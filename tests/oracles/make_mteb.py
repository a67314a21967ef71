"""Write `mteb_2.26.24/`: two of its mock tasks run by MTEB 2.26.24, which must be installed, with a random baseline."""

from pathlib import Path


def main() -> None:
    import mteb
    from mteb.cache import ResultCache
    from mteb.mocks.mock_tasks.classification import MockMultilingualClassificationTask
    from mteb.mocks.mock_tasks.sts import MockSTSTask

    tasks = [MockMultilingualClassificationTask(), MockSTSTask()]
    model = mteb.get_model("mteb/baseline-random-encoder")
    mteb.evaluate(model, tasks, cache=ResultCache(Path("mteb_2.26.24")), co2_tracker=False)


if __name__ == "__main__":
    main()
