import {
  type ChannelOptions,
  Client,
  type ClientUnaryCall,
  credentials,
  Metadata,
  type StatusObject,
} from '@grpc/grpc-js'
import type { ListenAddress } from '../../src/grpc/server.ts'
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
    // Others must not share what this client does to its connection.
    'grpc.use_local_subchannel_pool': 1,
    ...options,
  })
  return { client, converse: (conversation) => converse(client, conversation), close: () => client.close() }
}

const credentialsFor = (trust: Trust | undefined) =>
  trust === undefined
    ? credentials.createInsecure()
    : credentials.createSsl(Buffer.from(trust.ca), bufferOf(trust.key), bufferOf(trust.cert))

const bufferOf = (pem: string | undefined): Buffer | null => (pem === undefined ? null : Buffer.from(pem))

export const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes)
export const asIs = (bytes: Buffer): Buffer => bytes

function converse(client: Client, conversation: Conversation): Promise<Outcome> {
  const { method, kind, messages, timeoutMs } = conversation
  const options = timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs }
  const metadata = toMetadata(conversation.fields ?? {})
  const message = messages[0] ?? Buffer.alloc(0)
  const answers: Buffer[] = []
  const sole = (_: unknown, answer?: Buffer): void => void (answer && answers.push(answer))
  const outcome = (call: ClientUnaryCall, ended?: Promise<unknown>) => outcomeOf(call, answers, ended)
  switch (kind) {
    case 'unary':
      return outcome(client.makeUnaryRequest(method, toBuffer, asIs, message, metadata, options, sole))
    case 'clientStreaming': {
      const call = client.makeClientStreamRequest(method, toBuffer, asIs, metadata, options, sole)
      say(call, conversation)
      return outcome(call)
    }
    case 'serverStreaming': {
      const call = client.makeServerStreamRequest(method, toBuffer, asIs, message, metadata, options)
      return outcome(call, read(call, answers, conversation))
    }
    case 'bidi': {
      const call = client.makeBidiStreamRequest(method, toBuffer, asIs, metadata, options)
      say(call, conversation)
      return outcome(call, read(call, answers, conversation, call))
    }
  }
}
