"""Holds conversations on gRPC's C core: one a line as JSON on its input, its outcome a line on its output."""

import base64
import json
import queue
import sys
import threading

import grpc

OPTIONS = json.loads(sys.argv[1])
LIMITS = [
    ("grpc.max_receive_message_length", OPTIONS["maxMessageBytes"]),
    ("grpc.max_metadata_size", OPTIONS["maxMetadataBytes"]),
]

printing = threading.Lock()


def to_pairs(fields):
    return [
        (name, base64.b64decode(value) if name.endswith("-bin") else value)
        for name, values in fields.items()
        for value in values
    ]


def to_fields(pairs):
    fields = {}
    for name, value in pairs or ():
        if name.startswith("x-"):
            values = value.split(",") if isinstance(value, str) else [base64.b64encode(value).decode()]
            fields.setdefault(name, []).extend(text.strip() for text in values)
    return fields


def saying(conversation, turns, ended):
    """The client's half: all at once, or each message when the answer to the one before has come."""
    for message in conversation["messages"]:
        yield message
        if conversation.get("inTurns"):
            turns.get()
    if conversation.get("staysOpen"):
        ended.wait()


def start(channel, conversation, turns, ended):
    kind, method = conversation["kind"], conversation["method"]
    timeout = conversation.get("timeoutMs")
    how = {
        "timeout": None if timeout is None else timeout / 1000,
        "metadata": to_pairs(conversation.get("fields", {})),
    }
    if kind == "unary":
        return channel.unary_unary(method).future(conversation["messages"][0], **how)
    if kind == "serverStreaming":
        return channel.unary_stream(method)(conversation["messages"][0], **how)
    requests = saying(conversation, turns, ended)
    if kind == "clientStreaming":
        return channel.stream_unary(method).future(requests, **how)
    return channel.stream_stream(method)(requests, **how)


def hold(channel, conversation):
    turns, ended, answers = queue.SimpleQueue(), threading.Event(), []
    conversation["messages"] = [base64.b64decode(message) for message in conversation["messages"]]
    call = start(channel, conversation, turns, ended)
    try:
        if conversation["kind"] in ("unary", "clientStreaming"):
            answers.append(call.result())
        else:
            for answer in call:
                answers.append(answer)
                turns.put(None)
                if len(answers) == conversation.get("cancelAfter"):
                    call.cancel()
    except (grpc.RpcError, grpc.FutureCancelledError):
        pass  # the status says it
    ended.set()
    turns.put(None)
    trailers = call.trailing_metadata() or ()
    details = [value for name, value in trailers if name == "grpc-status-details-bin"]
    return {
        "code": call.code().value[0],
        "message": call.details() or "",
        "answers": [base64.b64encode(answer).decode() for answer in answers],
        "headers": to_fields(call.initial_metadata()),
        "trailers": to_fields(trailers),
        "details": base64.b64encode(details[0]).decode() if details else None,
    }


def tell(channel, line):
    conversation = json.loads(line)
    outcome = {"id": conversation["id"], **hold(channel, conversation)}
    with printing:
        print(json.dumps(outcome), flush=True)


def connect():
    if "ca" not in OPTIONS:
        return grpc.insecure_channel(OPTIONS["target"], options=LIMITS)
    own = [OPTIONS[name].encode() if name in OPTIONS else None for name in ("key", "cert")]
    return grpc.secure_channel(OPTIONS["target"], grpc.ssl_channel_credentials(OPTIONS["ca"].encode(), *own), LIMITS)


with connect() as channel:
    threads = []
    for line in sys.stdin:
        thread = threading.Thread(target=tell, args=(channel, line), daemon=True)
        thread.start()
        threads.append(thread)
