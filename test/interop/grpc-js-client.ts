import { once } from 'node:events'
import {
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  credentials,
  Metadata,
  type StatusObject,
} from '@grpc/grpc-js'
import type { ListenAddress } from '../../src/grpc/address.ts'
import {
  type Conversation,
  type Fields,
  fieldPairs,
  gatherFields,
  type InteropClient,
  MAX_MESSAGE_BYTES,
  type Outcome,
  type Trust,
  targetOf,
} from './conversation.ts'

export interface GrpcJsClient extends InteropClient {
  readonly client: Client
}

export function grpcJsClient(address: ListenAddress, trust?: Trust, options: ChannelOptions = {}): GrpcJsClient {
  const client = new Client(targetOf(address), credentialsFor(trust), {
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    // Otherwise clients of one target share their connection, and a test of one would affect the others.
    'grpc.use_local_subchannel_pool': 1,
    // grpc-js would verify an IP address in the same way, but with a warning.
    ...(trust === undefined ? {} : { 'grpc.ssl_target_name_override': 'localhost' }),
    ...options,
  })
  return { client, converse: (conversation) => converse(client, conversation), close: () => client.close() }
}

const credentialsFor = (trust: Trust | undefined): ChannelCredentials =>
  trust === undefined
    ? credentials.createInsecure()
    : credentials.createSsl(Buffer.from(trust.ca), bufferOf(trust.key), bufferOf(trust.cert))

const bufferOf = (pem: string | undefined): Buffer | null => (pem === undefined ? null : Buffer.from(pem))

export const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes)
export const asIs = (bytes: Buffer): Buffer => bytes

async function converse(client: Client, conversation: Conversation): Promise<Outcome> {
  const { method, kind, messages, timeoutMs } = conversation
  const options = timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs }
  const metadata = toMetadata(conversation.fields ?? {})
  const message = messages[0] ?? Buffer.alloc(0)
  const answers: Buffer[] = []
  const sole = (_error: unknown, answer?: Buffer): void => {
    if (answer !== undefined) answers.push(answer)
  }
  switch (kind) {
    case 'unary':
      return await outcome(client.makeUnaryRequest(method, toBuffer, asIs, message, metadata, options, sole), answers)
    case 'clientStreaming': {
      const call = client.makeClientStreamRequest(method, toBuffer, asIs, metadata, options, sole)
      send(call, conversation)
      return await outcome(call, answers)
    }
    case 'serverStreaming': {
      const call = client.makeServerStreamRequest(method, toBuffer, asIs, message, metadata, options)
      return await read(call, answers, conversation)
    }
    case 'bidi': {
      const call = client.makeBidiStreamRequest(method, toBuffer, asIs, metadata, options)
      if (conversation.inTurns === true) takeTurns(call, conversation.messages)
      else send(call, conversation)
      return await read(call, answers, conversation)
    }
  }
}

function send(call: ClientWritableStream<Uint8Array>, { messages, staysOpen }: Conversation): void {
  for (const message of messages) call.write(message)
  if (staysOpen !== true) call.end()
}

function takeTurns(call: ClientDuplexStream<Uint8Array, Buffer>, messages: readonly Uint8Array[]): void {
  const rest = [...messages]
  const sayNext = (): void => {
    const message = rest.shift()
    if (message === undefined) call.end()
    else call.write(message)
  }
  call.on('data', sayNext)
  sayNext()
}

async function read(
  call: ClientReadableStream<Buffer>,
  answers: Buffer[],
  { cancelAfter }: Conversation,
): Promise<Outcome> {
  call.on('data', (answer: Buffer) => {
    answers.push(answer)
    if (answers.length === cancelAfter) call.cancel()
  })
  call.on('error', () => {}) // the status reports the same
  const ended = once(call, 'end').catch(() => {})
  const result = await outcome(call, answers)
  // The status may arrive before responses that were not read yet.
  if (result.code === 0) await ended
  return result
}

function outcome(call: ClientUnaryCall, answers: readonly Buffer[]): Promise<Outcome> {
  let headers: Fields = {}
  call.on('metadata', (metadata) => {
    headers = fieldsOf(metadata)
  })
  return new Promise((resolve) => {
    call.on('status', ({ code, details: message, metadata }: StatusObject) => {
      const [details] = metadata.get('grpc-status-details-bin')
      const trailers = fieldsOf(metadata)
      resolve({ code, message, answers, headers, trailers, details: details as Buffer | undefined })
    })
  })
}

export function toMetadata(fields: Fields): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of fieldPairs(fields)) metadata.add(name, value)
  return metadata
}

export const fieldsOf = (metadata: Metadata): Fields =>
  gatherFields(
    Object.keys(metadata.getMap()).flatMap((name) => metadata.get(name).map((value) => [name, value] as const)),
  )
