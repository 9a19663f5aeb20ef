"""The Interop service on gRPC's C core. Prints the port it bound as JSON; serves until its input ends."""

import hashlib
import json
import struct
import sys
import threading
from concurrent import futures

import grpc

OPTIONS = json.loads(sys.argv[1])
DETAILS = bytes([0, 1, 2, 128, 254, 255, 10])
PATTERN = bytes(range(251))
CODES = {code.value[0]: code for code in grpc.StatusCode}

lock = threading.Lock()
seen = {"waiting": 0, "stopped": 0, "remainingMs": None, "sent": 0}


def server_stream(request, context):
    for _ in range(struct.unpack(">I", request[:4])[0]):
        yield request[4:]


def client_stream(requests, context):
    count, size, digest = 0, 0, hashlib.sha256()
    for message in requests:
        count, size = count + 1, size + len(message)
        digest.update(message)
    return struct.pack(">II", count, size) + digest.digest()


def bidi(requests, context):
    yield from requests


def early_bidi(requests, context):
    yield next(requests)


def fail(request, context):
    context.set_trailing_metadata(
        [("x-why", "because"), ("x-why-bin", bytes([0, 255, 7])), ("grpc-status-details-bin", DETAILS)]
    )
    context.abort(CODES[struct.unpack(">I", request[:4])[0]], request[4:].decode())


def metadata(request, context):
    pairs = [(name, value) for name, value in context.invocation_metadata() if name.startswith("x-")]
    context.send_initial_metadata(pairs)
    context.set_trailing_metadata(pairs)
    return b""


def large(request, context):
    count, size = struct.unpack(">II", request)
    message = (PATTERN * (size // len(PATTERN) + 1))[:size]
    for sent in range(count):
        seen["sent"] = sent + 1
        yield message


def slow(request, context):
    remaining = context.time_remaining()
    has_deadline = remaining is not None and remaining < 1e9
    with lock:
        seen["waiting"] += 1
        seen["remainingMs"] = remaining * 1000 if has_deadline else None
    ended = threading.Event()

    def stopped():
        with lock:
            seen["stopped"] += 1
        ended.set()

    if not context.add_callback(stopped):
        stopped()
    yield request
    ended.wait()


def tell_seen(request, context):
    with lock:
        return json.dumps(seen).encode()


HANDLERS = {
    "Unary": grpc.unary_unary_rpc_method_handler(lambda request, context: request),
    "ServerStream": grpc.unary_stream_rpc_method_handler(server_stream),
    "ClientStream": grpc.stream_unary_rpc_method_handler(client_stream),
    "Bidi": grpc.stream_stream_rpc_method_handler(bidi),
    "Fail": grpc.unary_unary_rpc_method_handler(fail),
    "Metadata": grpc.unary_unary_rpc_method_handler(metadata),
    "Early": grpc.stream_unary_rpc_method_handler(lambda requests, context: next(requests)),
    "EarlyBidi": grpc.stream_stream_rpc_method_handler(early_bidi),
    "Large": grpc.unary_stream_rpc_method_handler(large),
    "Slow": grpc.unary_stream_rpc_method_handler(slow),
    "Seen": grpc.unary_unary_rpc_method_handler(tell_seen),
}

server = grpc.server(
    futures.ThreadPoolExecutor(max_workers=32),
    options=[
        ("grpc.max_receive_message_length", OPTIONS["maxMessageBytes"]),
        ("grpc.max_metadata_size", OPTIONS["maxMetadataBytes"]),
    ],
)
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(OPTIONS["service"], HANDLERS),))
if "cert" in OPTIONS:
    pair = (OPTIONS["key"].encode(), OPTIONS["cert"].encode())
    port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([pair]))
else:
    port = server.add_insecure_port("127.0.0.1:0")
server.start()
print(json.dumps({"port": port}), flush=True)
sys.stdin.read()
server.stop(0).wait()
