#!/usr/bin/env bash
# Starts the program and asks it with clients that others wrote: curl, grpcurl, vegeta, @grpc/grpc-js, and numpy with Python's standard
# library. A client that is not installed is left out, unless CLIENTS_REQUIRED is set. grpcurl and vegeta are built from ../tools.
#   cnp/serve/clients/run.sh
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
work=$(mktemp -d)
server=
cleanup() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT

fail() {
	echo "clients: $*" >&2
	cat "$work/log" >&2
	exit 1
}
# In pipelines grep reads to the end: with -q the writer would fail.
have() {
	command -v "$1" >/dev/null && return 0
	[ -z "${CLIENTS_REQUIRED:-}" ] || fail "$1 is not installed"
	echo "$1: not installed, left out"
	return 1
}

# As the image is built: one static file.
build=$(sed -n 's|^RUN \(CGO_ENABLED=0 go build .*\) -o /equivcnp .*|\1|p' "$root/deploy/Dockerfile")
[ -n "$build" ] || fail "deploy/Dockerfile does not say how the program is built"
mkdir "$work/image"
(cd "$root" && VERSION= && eval "$build -o $work/image/equivcnp ./cmd/equivcnp") # the Dockerfile's argument, of which this is the default
ln "$work/image/equivcnp" "$work/equivcnp"
(cd ../tools && go build -o "$work/" github.com/fullstorydev/grpcurl/cmd/grpcurl github.com/tsenart/vegeta/v12)
: >"$work/log" # read before the server may have begun
"$work/equivcnp" serve --model rbf=rbf-equivcnp --model digits=digits-T2-small --listen 127.0.0.1:0 2>"$work/log" &
server=$!
for _ in $(seq 300); do
	address=$(sed -n 's/.*"msg":"listening","address":"\([^"]*\)".*/\1/p' "$work/log")
	[ -z "$address" ] || break
	kill -0 "$server" 2>/dev/null || fail "the server did not start"
	sleep 0.1
done
url=http://$address
echo "server at $url"

if have curl; then
	curl -fsS --retry 60 --retry-delay 1 --retry-all-errors -o /dev/null "$url/v2/health/ready"
	cat >"$work/curve.json" <<'JSON'
{"id": "c", "inputs": [
  {"name": "x_context", "shape": [1, 2, 1], "datatype": "FP64", "data": [-1, 0.5]},
  {"name": "y_context", "shape": [1, 2, 1], "datatype": "FP32", "data": [0.2, -0.7]},
  {"name": "x_target", "shape": [1, 3, 1], "datatype": "FP64", "data": [-0.5, 0, 1]}]}
JSON
	curl -fsS "$url/v2/models/rbf/infer" -d "@$work/curve.json" | grep -e '"id":"c".*"name":"mean","shape":\[1,3,1\]' >/dev/null || fail "curl: infer"
	[ "$(curl -s -o "$work/out" -w '%{http_code}' "$url/v2/models/none/infer" -d '{}')" = 404 ] || fail "curl: status of a missing model"
	grep -q '^{"error":"' "$work/out" || fail "curl: error"
	curl -fsS --http2-prior-knowledge "$url/v2" | grep -e '"extensions"' >/dev/null || fail "curl: HTTP/2"
	curl -fsS "$url/metrics" | grep -e '^equivcnp_requests_total{model="rbf",protocol="rest",status="200"} 1' >/dev/null || fail "curl: metrics"
	echo "curl: ok"
fi

grpcurl="$work/grpcurl -plaintext"
$grpcurl "$address" list | grep -xe inference.GRPCInferenceService >/dev/null || fail "grpcurl: reflection"
$grpcurl "$address" grpc.health.v1.Health/Check | grep -e SERVING >/dev/null || fail "grpcurl: health"
$grpcurl -d '{"name": "rbf"}' "$address" inference.GRPCInferenceService/ModelMetadata | grep -e x_target >/dev/null || fail "grpcurl: metadata"
$grpcurl -d '{"model_name": "rbf", "id": "g", "inputs": [
  {"name": "x_context", "shape": [1, 2, 1], "datatype": "FP64", "contents": {"fp64_contents": [-1, 0.5]}},
  {"name": "y_context", "shape": [1, 2, 1], "datatype": "FP32", "contents": {"fp32_contents": [0.2, -0.7]}},
  {"name": "x_target", "shape": [1, 3, 1], "datatype": "FP64", "contents": {"fp64_contents": [-0.5, 0, 1]}}]}' \
	"$address" inference.GRPCInferenceService/ModelInfer | grep -e '"id": "g"' >/dev/null || fail "grpcurl: infer"
if $grpcurl -d '{"model_name": "none"}' "$address" inference.GRPCInferenceService/ModelInfer 2>"$work/out"; then fail "grpcurl: a missing model"; fi
grep -q NotFound "$work/out" || fail "grpcurl: error"
echo "grpcurl: ok"

if [ -f "$work/curve.json" ]; then
	echo "POST $url/v2/models/rbf/infer" | "$work/vegeta" attack -body "$work/curve.json" -rate 50/s -duration 3s | "$work/vegeta" report >"$work/out"
	grep -Eq '^Success +\[ratio\] +100.00%' "$work/out" || fail "vegeta: $(cat "$work/out")"
	echo "vegeta: ok"
fi

python=
for p in /usr/bin/python3 python3; do
	if command -v $p >/dev/null && $p -c 'import numpy' 2>/dev/null; then python=$p && break; fi
done
if [ -n "$python" ]; then
	for model in rbf digits; do
		$python infer.py "$url" $model | grep -e '^std (1, ' >/dev/null || fail "infer.py: $model"
	done
	if $python infer.py "$url" none 2>"$work/out"; then fail "infer.py: a missing model"; fi
	grep -q '404: no model "none"' "$work/out" || fail "infer.py: error"
	echo "numpy: ok"
elif [ -n "${CLIENTS_REQUIRED:-}" ]; then
	fail "numpy is not installed"
else
	echo "numpy: not installed, left out"
fi

if have npm; then
	cp infer.mjs package.json package-lock.json "$work/"
	(cd "$work" && npm ci --silent --no-audit --no-fund)
	node "$work/infer.mjs" "$address" "$root/cnp/serve/inference/inference.proto" || fail "grpc-js"
fi

# The image's file system holds nothing but the program, whose user is nobody: what it needs of a system would be missing here.
if [ "$(id -u)" = 0 ]; then
	: >"$work/log2"
	chroot --userspec=65532:65532 "$work/image" /equivcnp serve --listen 127.0.0.1:0 2>"$work/log2" &
	bare=$!
	for _ in $(seq 300); do
		there=$(sed -n 's/.*"msg":"listening","address":"\([^"]*\)".*/\1/p' "$work/log2")
		[ -z "$there" ] || break
		kill -0 "$bare" 2>/dev/null || { cat "$work/log2" >&2; fail "the program does not start in an empty file system"; }
		sleep 0.1
	done
	"$work/grpcurl" -plaintext "$there" grpc.health.v1.Health/Check | grep -e SERVING >/dev/null || fail "health in an empty file system"
	kill -TERM "$bare"
	wait "$bare" || fail "exit status $? in an empty file system"
	echo "empty file system: ok"
fi

# Everything that was accepted is answered, and the program ends well.
kill -TERM "$server"
wait "$server" || fail "the server's exit status is $?"
server=
grep -q '"msg":"stopped"' "$work/log" || fail "the server did not stop gracefully"
echo "stop: ok"
