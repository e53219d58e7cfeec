"""ReadyVoice's entry: start.sh calls it once the environment stands.

    python app.py serve | reload | setup | say "text" --out FILE.wav | clone NAME CLIP --consent WHO | fetch [NAME]
"""
from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


class SayHelp(argparse.Action):
    """The help of `say` with every family's controls, which are only looked up when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: object) -> None:
        from cli.controls import all_families
        parser.epilog = f"controls for --option, by family:\n{all_families()}"
        parser.print_help()
        parser.exit()


def parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--config", type=Path, default=HERE / "config.toml", help="the fleet (default: config.toml)")
    shared.add_argument("--with", dest="families", action="append", default=[], metavar="FAMILY[,FAMILY]",
                        help="families that are to be there too, with their default checkpoint")
    shared.add_argument("--log-file", help="append everything that is logged, with dates, to this file")
    top = argparse.ArgumentParser(prog="start.sh",
                                  description="ReadyVoice: a speech studio that is warm before it opens.")
    commands = top.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", parents=[shared], help="load, warm and serve the page (what start.sh does)")
    serve.add_argument("--host", help="address to listen on (default: 127.0.0.1, this machine only)")
    serve.add_argument("--port", type=int, help="port to listen on (default: 6006)")
    serve.add_argument("--password-file", type=Path, metavar="FILE",
                       help="file with the password of page and API (default: READYVOICE_PASSWORD, else one is made on "
                            "any address but this machine's own)")
    reload = commands.add_parser("reload", parents=[shared], help="have the server read its configuration again")
    reload.add_argument("--port", type=int, help="the server's port (default: the configuration's)")
    commands.add_parser("setup", parents=[shared], help="install and fetch everything, without serving")
    say = commands.add_parser("say", parents=[shared], help="speak one text into a WAV file", add_help=False,
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    say.add_argument("-h", "--help", action=SayHelp, nargs=0, help="show this and every family's controls")
    say.add_argument("text", nargs="?", default="")
    say.add_argument("--model", help="model id (default: the configuration's)")
    say.add_argument("--voice", default="",
                     help="voice id, mix such as af_heart(2)+am_michael(1), or a cloned voice's name")
    say.add_argument("--language", default="auto", help="language tag (default: found in the text)")
    say.add_argument("--speed", type=float, default=1.0, help="0.5 to 2")
    say.add_argument("--seed", type=int, help="same seed, same sound")
    say.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", dest="controls",
                     help="a control of the model's own; give it again for more")
    say.add_argument("--options", action="store_true",
                     help="list the model's controls (with no --model: every model's)")
    say.add_argument("--out", type=Path, default=Path("speech.wav"), help="the WAV file (default: speech.wav)")
    say.add_argument("--request-sequence", type=Path, metavar="FILE.json", dest="sequence",
                     help="speak a list of requests through one session instead: [{\"text\": ..., \"out\": ...}, ...]")
    say.add_argument("--metrics", type=Path, metavar="OUT.json", help="write the figures of every request of the list")
    clone = commands.add_parser("clone", parents=[shared], help="fit and save a voice from a recording")
    clone.add_argument("name", help="what the voice is to be called")
    clone.add_argument("clip", type=Path, help="a recording of one person speaking, about 10 s or more")
    clone.add_argument("--transcript", default="", help="what is said in it (default: found by listening)")
    clone.add_argument("--language", default="", help="language tag of the recording (default: found by listening)")
    clone.add_argument("--consent", default="", help="who says that the speaker agrees, by name")
    clone.add_argument("--seconds", type=float, default=120.0,
                       help="time to spend on making it more alike; 0: none (default: 120)")
    clone.add_argument("--shared", action="store_true", help="everybody who uses the page may speak in it")
    keys = commands.add_parser("keys", parents=[shared], help="make, list and revoke keys for programs")
    keys.add_argument("action", choices=("add", "list", "revoke"), nargs="?", default="list")
    keys.add_argument("name", nargs="?", default="", help="whose key it is")
    fetch = commands.add_parser("fetch", parents=[shared], help="download a checkpoint ahead")
    fetch.add_argument("name", nargs="?", help="which one (default: list them)")
    fetch.add_argument("--mirror", choices=("modelscope",), help="where from instead of the model hub")
    return top


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    from cli.serve import serve, set_up_logs
    from models.config import Config, load_config
    from models.errors import SpeechError
    from models.hub import MIRROR
    from models.memory import few_arenas
    from models.published import with_families
    few_arenas()
    try:
        set_up_logs(options.log_file)
        asked = {"host": getattr(options, "host", None), "port": getattr(options, "port", None)}
        if options.command == "reload":
            from cli.reload import reload
            return reload(options.config, options.port)
        if options.command == "keys":
            from cli.keys import keys
            return keys(options.action, options.name)
        families = [name.strip() for names in options.families for name in names.split(",") if name.strip()]

        def read() -> Config:
            return with_families(load_config(options.config, asked), families)

        config = read()
        if options.command == "serve":
            return serve(config, options.config, read, options.password_file)
        if options.command == "setup":
            from cli.fleet import fetch_weights
            from cli.progress import Steps
            from cli.clone import fetch_tools
            fetch_weights(config, Steps())
            fetch_tools(Steps())
            return 0
        if options.command == "fetch":
            from cli.fetch import fetch_checkpoint, list_checkpoints
            if options.mirror:
                os.environ[MIRROR] = options.mirror
            return fetch_checkpoint(options.name) if options.name else list_checkpoints()
        if options.command == "clone":
            from cli.clone import clone
            return clone(options.name, options.clip, options.transcript, options.language, options.consent,
                         options.shared, options.seconds)
        if options.options:
            from cli.controls import listing
            print(listing(config.only(options.model) if options.model else config))
            return 0
        if options.sequence:
            from cli.sequence import run_sequence
            return run_sequence(config.only(options.model or config.server.default_model), options.sequence,
                                options.metrics)
        from cli.say import say
        return say(config.only(options.model or config.server.default_model), options.text, options.voice,
                   options.language, options.speed, options.seed, options.controls, options.out)
    except SpeechError as error:
        print(error.sentence(), file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename or 'a file'} can't be used: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
