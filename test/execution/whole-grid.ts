/** A whole server, whole workers, and a client that encodes its messages with another implementation than ours. */
import type { JsonObject } from '@bufbuild/protobuf'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { type Channel, createChannel } from '../../src/grpc/client/channel.ts'
import { runningServer } from '../../src/testing/running-server.ts'
import { readReadResponse, readRequest } from '../../src/wire/calls/byte-stream.ts'
import { ownFolder, type WorkerHere, workerHere } from '../workers/worker-here.ts'
import type { ActionParts, OperationJson, ResponseJson } from './execution-grid.ts'
import { base64, decoded, encoded, nameOf } from './messages.ts'

type DigestJson = ReturnType<typeof nameOf>

export interface WholeGrid {
  readonly address: string
  readonly channel: Channel
  /** A folder that commands may write to. */
  readonly folder: string
  worker(settings?: Record<string, string>): Promise<WorkerHere>
  call<T = JsonObject>(service: string, method: string, request: JsonObject): Promise<T>
  put(...blobs: readonly Uint8Array[]): Promise<void>
  /** Uploads action, command and root; the children of the root must be stored, or be missing on purpose. */
  action(parts: ActionParts): Promise<{ actionDigest: DigestJson }>
  /** All messages of the Execute stream. */
  execute(request: JsonObject): Promise<OperationJson[]>
  /** Runs an action and returns its ExecuteResponse. */
  run(parts: ActionParts, request?: JsonObject): Promise<ResponseJson>
  read(digest: DigestJson | undefined, took?: (piece: Uint8Array) => void): Promise<Buffer>
}

const REAPI = '/build.bazel.remote.execution.v2'

export async function wholeGrid(settings: Record<string, string> = {}): Promise<WholeGrid> {
  const folder = ownFolder()
  const server = await runningServer(ownFolder(), settings)
  const address = server.target.replace('grpc://', '')
  const [host = '', port] = address.split(':')
  const timing = { now: systemClock.monotonic, after: systemClock.after }
  const channel = createChannel({ address: { host, port: Number(port) }, timing })
  onTestFinished(async () => {
    channel.close()
    await server.stop()
  })
  const call: WholeGrid['call'] = async <T>(service: string, method: string, request: JsonObject) => {
    const [asked, reported] = [`${method}Request`, method === 'GetActionResult' ? 'ActionResult' : `${method}Response`]
    return decoded<T>(reported, (await channel.unary(`${REAPI}.${service}/${method}`, encoded(asked, request))).message)
  }
  const put = async (...blobs: readonly Uint8Array[]): Promise<void> => {
    const requests = blobs.map((blob) => ({ digest: nameOf(blob), data: base64(blob) }))
    const { responses } = await call<{ responses: { status?: { code?: number } }[] }>(
      'ContentAddressableStorage',
      'BatchUpdateBlobs',
      { requests },
    )
    for (const { status } of responses) if (status?.code) throw new Error(JSON.stringify(status))
  }
  const action: WholeGrid['action'] = async ({ command = {}, action: more = {}, root = {} }) => {
    const [commandBytes, rootBytes] = [encoded('Command', command), encoded('Directory', root)]
    const digests = { commandDigest: nameOf(commandBytes), inputRootDigest: nameOf(rootBytes) }
    const bytes = encoded('Action', { ...digests, ...more })
    // Clients never upload the empty blob, which is the encoding of an empty Directory.
    await put(...[commandBytes, rootBytes, bytes].filter(({ length }) => length > 0))
    return { actionDigest: nameOf(bytes) }
  }
  const execute: WholeGrid['execute'] = async (request) => {
    const all: OperationJson[] = []
    const stream = channel.serverStreaming(`${REAPI}.Execution/Execute`, encoded('ExecuteRequest', request))
    for await (const message of stream) all.push(decoded<OperationJson>('google.longrunning.Operation', message))
    return all
  }
  return {
    address,
    channel,
    folder,
    worker: (more) => workerHere(address, more),
    call,
    put,
    action,
    execute,
    async run(parts, request = {}) {
      const last = (await execute({ ...(await action(parts)), ...request })).at(-1)
      if (last?.response === undefined) throw new Error('it ended without a response')
      return last.response
    },
    async read(digest, took) {
      const resourceName = `blobs/${digest?.hash}/${digest?.sizeBytes}`
      const request = readRequest({ resourceName, offset: 0, limit: 0 })
      const pieces: Buffer[] = []
      for await (const message of channel.serverStreaming('/google.bytestream.ByteStream/Read', request)) {
        if (took === undefined) pieces.push(Buffer.from(readReadResponse(message)))
        else took(readReadResponse(message))
      }
      return Buffer.concat(pieces)
    },
  }
}

/** A command of /bin/sh. */
export const shell = (script: string, more: JsonObject = {}): JsonObject => ({
  arguments: ['/bin/sh', '-c', script],
  environmentVariables: [{ name: 'PATH', value: '/usr/bin:/bin' }],
  ...more,
})
