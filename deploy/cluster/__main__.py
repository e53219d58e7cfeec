"""`python -m deploy.cluster`: replicas on the machines of a Ray cluster (this one alone, if none is running), and here the
page and API in front of them, as `start.sh` serves them."""
from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import ray  # noqa: E402
from ray import serve  # noqa: E402

from cli.fleet import watcher  # noqa: E402
from cli.progress import Steps  # noqa: E402
from cli.serve import serve as serve_page  # noqa: E402
from deploy.cluster.remote import APP, RemotePool  # noqa: E402
from deploy.cluster.replica import application  # noqa: E402
from models.config import Config, load_config  # noqa: E402
from models.errors import SpeechError  # noqa: E402

HERE = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.cluster", description=__doc__)
    parser.add_argument("--config", type=Path, default=HERE / "config.toml", help="the fleet, at the same path on each machine")
    parser.add_argument("--replicas", type=int, default=2, help="at least (default 2)")
    parser.add_argument("--most", type=int, help="at most, by the number of requests (default: as many)")
    parser.add_argument("--cores", type=float, default=1, help="of a replica (default 1)")
    parser.add_argument("--gpus", type=float, default=0, help="of a replica (default 0)")
    parser.add_argument("--address", help="of a running Ray cluster (default: one is started here)")
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    parser.add_argument("--password-file", type=Path)
    options = parser.parse_args()

    def read() -> Config:
        return load_config(options.config, {"host": options.host, "port": options.port})

    try:
        config = read()
        environment = {"env_vars": {"PYTHONPATH": str(HERE), **{name: value for name, value in os.environ.items()
                                                                if name.startswith("READYVOICE_")}}}
        ray.init(address=options.address, runtime_env=environment, log_to_driver=False, include_dashboard=False)
        serve.start(http_options={"location": "NoServer"})
        app = application(options.config, options.replicas, options.most or options.replicas, options.cores, options.gpus)
        handle = serve.run(app, name=APP, route_prefix=None)
        return serve_page(config, options.config, read, options.password_file,
                          lambda config, steps: RemotePool(config, handle, watcher(steps)))
    except SpeechError as error:
        print(error.sentence(), file=sys.stderr)
        return 1
    finally:
        if ray.is_initialized():
            serve.shutdown()
            ray.shutdown()


if __name__ == "__main__":
    sys.exit(main())
