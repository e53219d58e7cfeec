#!/usr/bin/env bash
# Makes a cloud image speak: run once as root on a fresh Debian or Ubuntu machine, from a clone of the repository.
#   sudo bash deploy/cloud-image.sh [--no-fetch]
# It copies the product to /opt/readyvoice, installs and fetches everything (unless --no-fetch), and has it started at
# every boot: by systemd, or by cron where there is none. The password lies in /etc/readyvoice/password.
set -euo pipefail

SOURCE="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
APP=/opt/readyvoice STATE=/var/lib/readyvoice LOGS=/var/log/readyvoice SECRET=/etc/readyvoice/password
FETCH=yes

fail() { echo "cloud-image: $*" >&2; exit 1; }

for argument in "$@"; do
    case "$argument" in
        --no-fetch) FETCH=no ;;
        *) fail "there is no option $argument (only --no-fetch)" ;;
    esac
done
[ "$(id -u)" = 0 ] || fail "run this as root: sudo bash deploy/cloud-image.sh"
command -v apt-get >/dev/null || fail "this script is for Debian and Ubuntu: elsewhere install Python 3.11 or newer, a C++ compiler and cron, then see deploy/README.md"

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends python3 python3-venv g++ openssl

id readyvoice >/dev/null 2>&1 || useradd --system --home-dir "$STATE" --shell /usr/sbin/nologin readyvoice
install -d -o readyvoice -g readyvoice "$APP" "$STATE" "$LOGS"
install -d -m 0750 -o root -g readyvoice "$(dirname "$SECRET")"
tar -C "$SOURCE" --exclude=.git --exclude=.venv -cf - . | tar -C "$APP" --no-same-owner -xf -
chown -R readyvoice:readyvoice "$APP"
if [ ! -s "$SECRET" ]; then
    openssl rand -base64 18 > "$SECRET"
    chown root:readyvoice "$SECRET"
    chmod 0640 "$SECRET"
fi

as_user() { runuser -u readyvoice -- env HOME="$STATE" READYVOICE_HOME="$STATE" "$@"; }
[ "$FETCH" = no ] || as_user bash "$APP/start.sh" setup

if [ -d /run/systemd/system ] || command -v systemctl >/dev/null; then
    install -m 0644 "$SOURCE/deploy/systemd/readyvoice.service" /etc/systemd/system/
    systemctl enable readyvoice.service
    echo "done: readyvoice starts at every boot, and now with: systemctl start readyvoice"
else
    command -v crontab >/dev/null || apt-get install -y -qq --no-install-recommends cron
    cat > /etc/cron.d/readyvoice <<CRON
HOME=$STATE
READYVOICE_HOME=$STATE
@reboot readyvoice bash $APP/start.sh --host 0.0.0.0 --password-file $SECRET --log-file $LOGS/server.log >> $LOGS/start.log 2>&1
CRON
    chmod 0644 /etc/cron.d/readyvoice
    echo "done: readyvoice starts at every boot, by cron"
fi
echo "the password of the page on port 6006 is in $SECRET"
