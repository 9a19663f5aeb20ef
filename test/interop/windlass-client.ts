import type { ListenAddress } from '../../src/grpc/address.ts'
import type { CallOptions } from '../../src/grpc/client/call-options.ts'
import { type ChannelOptions, createChannel } from '../../src/grpc/client/channel.ts'
import type { ClientCall } from '../../src/grpc/client/client-call.ts'
import type { Metadata } from '../../src/grpc/metadata.ts'
import { GrpcError, type MetadataInit } from '../../src/grpc/status.ts'
import {
  type Conversation,
  type Fields,
  fieldPairs,
  gatherFields,
  type InteropClient,
  MAX_MESSAGE_BYTES,
  type Outcome,
} from './conversation.ts'
import { metadataInit, receivedPairs } from './interop-service.ts'
import { timing } from './windlass-server.ts'

export function windlassClient(address: ListenAddress, options: Partial<ChannelOptions> = {}): InteropClient {
  const limits = { maxMessageBytes: MAX_MESSAGE_BYTES, ...options.limits }
  const channel = createChannel({ address, timing, ...options, limits })
  const open = (conversation: Conversation, call: CallOptions): ClientCall => {
    const { kind, method, messages } = conversation
    return kind === 'serverStreaming'
      ? channel.serverStreaming(method, first(messages), call)
      : channel.open(method, call)
  }
  return {
    async converse(conversation) {
      const { kind, method, messages } = conversation
      if (kind !== 'unary') return await hold(open(conversation, callOptions(conversation)), conversation)
      try {
        const answer = await channel.unary(method, first(messages), callOptions(conversation))
        const [headers, trailers] = [fieldsOf(answer.headers), fieldsOf(answer.trailers)]
        return { ...FINE, answers: [Buffer.from(answer.message)], headers, trailers }
      } catch (error) {
        return failed(error, [], {})
      }
    },
    close: () => channel.close(),
  }
}

const FINE = { code: 0, message: '', details: undefined }

const first = ([message]: readonly Uint8Array[]): Uint8Array => message ?? new Uint8Array()

const callOptions = ({ fields, timeoutMs }: Conversation): CallOptions => ({
  ...(fields === undefined ? {} : { metadata: metadataInit(fieldPairs(fields)) }),
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
})

async function hold(call: ClientCall, conversation: Conversation): Promise<Outcome> {
  const answers: Buffer[] = []
  let headers: Fields = {}
  call.headers.then((metadata) => (headers = fieldsOf(metadata)), NOTHING)
  // A failure here also fails the reader.
  if (conversation.kind !== 'serverStreaming') send(call, conversation).catch(NOTHING)
  try {
    for (let answer = await call.next(); answer !== undefined; answer = await call.next()) {
      answers.push(Buffer.from(answer))
      if (conversation.inTurns === true) sayTurn(call, conversation, answers.length)
      if (answers.length === conversation.cancelAfter) call.cancel()
    }
    return { ...FINE, answers, headers, trailers: fieldsOf(await call.trailers) }
  } catch (error) {
    return failed(error, answers, headers)
  }
}

async function send(call: ClientCall, conversation: Conversation): Promise<void> {
  if (conversation.inTurns === true) return sayTurn(call, conversation, 0)
  for (const message of conversation.messages) if (!call.write(message)) await call.drained()
  if (conversation.staysOpen !== true) call.finish()
}

function sayTurn(call: ClientCall, { messages, staysOpen }: Conversation, turn: number): void {
  const message = messages[turn]
  if (message !== undefined) call.write(message)
  else if (staysOpen !== true) call.finish()
}

const NOTHING = (): void => {}

function failed(error: unknown, answers: readonly Buffer[], headers: Fields): Outcome {
  if (!(error instanceof GrpcError)) throw error
  const { code, message, details } = error
  const bytes = details === undefined ? undefined : Buffer.from(details)
  return { code, message, details: bytes, answers, headers, trailers: gatherFields(initPairs(error.trailers ?? {})) }
}

const initPairs = (init: MetadataInit): [string, string | Uint8Array][] =>
  Object.entries(init).flatMap(([name, values]) =>
    (Array.isArray(values) ? values : [values]).map((value): [string, string | Uint8Array] => [name, value]),
  )

const fieldsOf = (metadata: Metadata): Fields => gatherFields(receivedPairs(metadata))
