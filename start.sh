#!/usr/bin/env bash
# ReadyVoice in one command. `bash start.sh` installs, fetches, warms and serves; `bash start.sh help` lists the rest.
set -uo pipefail

HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
VENV="$HERE/.venv"
PY="$VENV/bin/python"
export READYVOICE_STARTED="${EPOCHREALTIME:-}"
READYVOICE_STARTED="${READYVOICE_STARTED/,/.}"
export READYVOICE_HOME="${READYVOICE_HOME:-$HOME/.cache/readyvoice}"
# all that is fetched lies in one folder; a pip cache the user chose stays theirs
export PIP_CACHE_DIR="${PIP_CACHE_DIR:-$READYVOICE_HOME/pip}"
export PIP_DISABLE_PIP_VERSION_CHECK=1 GRADIO_ANALYTICS_ENABLED=False

usage() {
    cat <<'TEXT'
bash start.sh [serve] [--host H] [--port P] [--config F] [--log-file F] [--password-file F]   install, fetch, warm, serve the page
bash start.sh keys [list | add NAME | revoke NAME]                        keys for programs that call a server with a password
bash start.sh reload [--port P]                                           have the running server read its configuration again
bash start.sh setup                                                       install and fetch only
bash start.sh say "text" [--model M] [--voice V] [--language L] [--speed S] [--seed N] [--option NAME=VALUE]... [--out FILE.wav]
bash start.sh say --request-sequence FILE.json [--metrics OUT.json] [--model M]   speak a list through one session
bash start.sh say --options [--model M]                                   list the controls that --option sets
bash start.sh clone NAME CLIP --consent WHO [--transcript TEXT] [--language L] [--seconds S]   save a voice; say ... --voice NAME speaks in it
bash start.sh fetch [NAME] [--mirror modelscope]                          download a checkpoint ahead; without a name, list them
bash start.sh test [--short] [pytest options]                             install what tests need, run all tests; --short: but the
                                                                           drills and whole fits, which take minutes each
bash start.sh bench [NAME] [--json FILE]                                  run a benchmark; without a name, list them
serve, setup, say and fetch take --with FAMILY[,FAMILY]: voxcpm, pocket_tts, supertonic, qwen3_tts. What they need is
installed once, and a family that config.toml doesn't have is there for this run with its default checkpoint.
READYVOICE_MIRROR=modelscope fetches checkpoints from ModelScope.
READYVOICE_HOME moves the folder for everything that is fetched (default ~/.cache/readyvoice).
TEXT
}

say_line() { # number text; `say`, `clone` and `fetch` keep their output to themselves
    [ "$COMMAND" = say ] || [ "$COMMAND" = clone ] || [ "$COMMAND" = fetch ] || echo "[$1/6] $2"
}

notice() { # number text, of what takes minutes: those three hear of it too, beside their output
    case "$COMMAND" in say|clone|fetch) echo "[$1/6] $2" >&2 ;; *) echo "[$1/6] $2" ;; esac
}

fail() { # number sentence
    echo "[$1/6] $2" >&2
    exit 1
}

find_python() {
    local name
    for name in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 python3.14 python; do
        [ -n "$name" ] && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v "$name" && return
    done
    return 1
}

check() { # step 1; the rest of the arguments are the command's own
    local began=$SECONDS
    SYSTEM_PY="$(find_python)" || fail 1 "Python 3.11 or newer is needed and was not found: install it (on Debian or Ubuntu: apt install python3 python3-venv), or name one with PYTHON=/path/to/python bash start.sh"
    mkdir -p "$READYVOICE_HOME" 2>/dev/null || fail 1 "the folder $READYVOICE_HOME can't be made: choose another with READYVOICE_HOME=/path bash start.sh"
    [ "$1" = test ] || EXTRAS="$("$SYSTEM_PY" "$HERE/cli/extras.py" "$HERE" "$COMMAND" "${@:2}")" || exit 1
    local installed=no
    in_place "$1" && installed=part && all_in_place $EXTRAS && installed=yes
    "$SYSTEM_PY" "$HERE/cli/preflight.py" "$COMMAND" "$installed" "$HERE" "${@:2}" || exit 1
    say_line 1 "checked Python, disk and port ($((SECONDS - began)) s)"
}

stamp() { # run, bench, test or a NAME of requirements-NAME.txt: what that part was made from; a change installs again
    local files=("$HERE/requirements.txt")
    case "$1" in
        run) ;;
        bench) files+=("$HERE/requirements-bench.txt") ;;
        test) files+=("$HERE"/requirements-*.txt) ;;
        *) files=("$HERE/requirements-$1.txt") ;;
    esac
    "${SYSTEM_PY:-python3}" - "$HERE" "${files[@]}" <<'TEXT'
import hashlib, pathlib, sys
digest = hashlib.sha256(f"{sys.version_info[:2]} {sys.argv[1]}".encode())
for name in sys.argv[2:]:
    digest.update(pathlib.Path(name).read_bytes())
print(digest.hexdigest())
TEXT
}

in_place() { # a part, as of stamp
    [ "$(cat "$VENV/.readyvoice-$1" 2>/dev/null)" = "$(stamp "$1")" ]
}

all_in_place() { # parts
    local part
    for part in "$@"; do in_place "$part" || return 1; done
}

install() { # step 2; $1: run, bench or test. EXTRAS come on top, and those of earlier starts, so that all fit together
    local began=$SECONDS name stamped=("$1" $EXTRAS)
    if all_in_place "${stamped[@]}" && "$PY" -c '' 2>/dev/null; then
        say_line 2 "environment is in place ($((SECONDS - began)) s)"
        return
    fi
    notice 2 "installing${EXTRAS:+ $EXTRAS} into .venv (the first time takes a few minutes) …"
    if ! "$PY" -c '' 2>/dev/null; then
        "$SYSTEM_PY" -m venv --clear "$VENV" || fail 2 "the environment $VENV could not be made: see the line above"
    fi
    local files=(-r "$HERE/requirements.txt") log="$VENV/install.log"
    [ "$1" = run ] || stamped+=(run)
    [ "$1" = test ] && stamped+=(bench voxcpm pocket_tts supertonic qwen3_tts modelscope)
    for name in test bench voxcpm pocket_tts supertonic qwen3_tts modelscope; do
        [[ -e "$VENV/.readyvoice-$name" || " ${stamped[*]} " == *" $name "* ]] && files+=(-r "$HERE/requirements-$name.txt")
    done
    if ! "$PY" -m pip install --quiet "${files[@]}" >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        if grep -qi 'no space left' "$log"; then
            fail 2 "the disk is full: free about 8 GB and start again"
        elif grep -qiE 'connection|name resolution|network|timed? ?out|no matching distribution' "$log"; then
            fail 2 "packages could not be fetched: connect this machine to the network (or set PIP_INDEX_URL to a mirror you can reach) and start again"
        fi
        fail 2 "pip could not install the packages: the reason is in $log"
    fi
    for name in "${stamped[@]}"; do stamp "$name" > "$VENV/.readyvoice-$name"; done
    say_line 2 "environment installed ($((SECONDS - began)) s)"
}

browser() { # tests drive a real Chromium
    command -v chromium || command -v chromium-browser || command -v google-chrome && return
    "$PY" -c 'import pathlib, playwright.sync_api as p
with p.sync_playwright() as play: raise SystemExit(not pathlib.Path(play.chromium.executable_path).exists())' 2>/dev/null && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium; } >/dev/null 2>&1 && return
    fi
    "$PY" -m playwright install --with-deps chromium || "$PY" -m playwright install chromium
}

proxy() { # tests put a real nginx in front; where it can't be had they say so
    command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nginx-light; } >/dev/null 2>&1
    fi
}

run_tests() { # pytest options; first those that want the machine for themselves, then the others side by side
    "$PY" -m pytest --part alone "$@"
    local alone=$?
    "$PY" -m pytest --part beside -n 2 --dist loadfile --durations 15 "$@"
    local beside=$?
    [ $alone = 5 ] && [ $beside = 5 ] && return 5 # pytest's status for no test at all
    case $alone in 0|5) ;; *) return $alone ;; esac
    case $beside in 0|5) ;; *) return $beside ;; esac
}

COMMAND=serve
EXTRAS=""
case "${1:-}" in
    serve|reload|keys|setup|say|clone|fetch|test|bench) COMMAND="$1"; shift ;;
    help|-h|--help) usage; exit 0 ;;
    -*|"") ;;
    *) echo "There is no command $1." >&2; usage >&2; exit 2 ;;
esac

case "$COMMAND" in
    test)
        check test && install test
        browser >/dev/null || fail 2 "a Chromium is needed for the page's tests and could not be installed: install one (on Debian: apt install chromium) and start again"
        proxy
        cd "$HERE" && run_tests "$@"; exit ;;
    reload|keys) # nothing to check or install: what serves is installed
        "$PY" -c '' 2>/dev/null || fail 2 "nothing is installed here yet: start the server with bash start.sh"
        exec "$PY" "$HERE/app.py" "$COMMAND" "$@" ;;
    bench)
        case "${1:-}" in families|voxcpm-voice) EXTRAS="voxcpm pocket_tts" ;; esac
        check bench && install bench
        [ "${1:-}" = browser ] && { browser >/dev/null || fail 2 "this benchmark needs a Chromium, and none could be installed: install one (on Debian: apt install chromium) and start again"; }
        cd "$HERE" && exec "$PY" -m benchmarks "$@" ;;
    *)
        check run "$@" && install run
        exec "$PY" "$HERE/app.py" "$COMMAND" "$@" ;;
esac
