#!/usr/bin/env bash
# Tries the page in real browsers: that of the server, and the static one with the engine as WebAssembly. Needs node, npm, and chromium or
# firefox-esr; what is missing is left out with a word, unless BROWSER_REQUIRED is set. Pictures go to $OUT.
#   cnp/serve/page/browser/run.sh
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../../../.. && pwd)
out=${OUT:-$root/out/browser}
missing() {
	echo "browser: $1 is not installed: left out" >&2
	[ -z "${BROWSER_REQUIRED:-}" ] || exit 1
	exit 0
}
command -v node >/dev/null || missing node
command -v npm >/dev/null || missing npm
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
firefox=$(command -v firefox-esr || command -v firefox || true)
[ -n "$chromium$firefox" ] || missing "a browser"

npm ci --silent --no-audit --no-fund
mkdir -p "$out"
work=$(mktemp -d)
server=
cleanup() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
go build -C "$root" -o "$work/equivcnp" ./cmd/equivcnp
(cd "$root" && go run ./cmd/page-wasm -out "$work/static")
# The shipped models of vector fields are of one group. These have learned next to nothing, but their groups are theirs.
mkdir "$work/fields"
for group in SE2 T2; do
	lifts=1
	[ $group = T2 ] || lifts=4
	"$work/equivcnp" train regression --field rbf --group $group --lifts $lifts --levels 2 --channels 8 --points-per-unit 1 --steps 5 --batch 2 --seed 1 \
		--out "$work/fields/${group,,}.safetensors" >/dev/null 2>&1
done
: >"$work/log" # read before the server may have begun
"$work/equivcnp" serve --listen 127.0.0.1:0 2>"$work/log" &
server=$!
for _ in $(seq 300); do
	address=$(sed -n 's/.*"msg":"listening","address":"\([^"]*\)".*/\1/p' "$work/log")
	[ -z "$address" ] || break
	kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
	sleep 0.1
done
export PAGE_SERVER=http://$address PAGE_STATIC=$work/static PAGE_FIELDS=$work/fields PAGE_OUT=$out PAGE_PROGRAM=$work/equivcnp
for browser in ${BROWSERS:-chromium firefox}; do
	[ -n "${!browser}" ] || { echo "browser: $browser is not installed: left out"; continue; }
	echo "== $browser"
	PAGE_BROWSER=$browser PAGE_EXECUTABLE=${!browser} node --test --test-concurrency=1 page.test.mjs
done
