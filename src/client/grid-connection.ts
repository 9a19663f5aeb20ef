import { stat } from 'node:fs/promises'
import type { Clock } from '../base/clock.ts'
import type { Digest, DigestFunction } from '../base/digest.ts'
import { FaultError, invalid } from '../base/fault.ts'
import { prepareHashing } from '../base/hashing/create-hasher.ts'
import { digestOf } from '../base/hashing/hash-of.ts'
import type { ClientTls } from '../grpc/client/channel.ts'
import type { RequestMetadata } from '../model/request-metadata.ts'
import { type CasClient, casClient } from './cas/cas-client.ts'
import { blobPieces } from './cas/cas-read.ts'
import { type Uploader, uploader } from './cas/cas-upload.ts'
import { bufferBlob, fileBlob } from './cas/local-blob.ts'
import { connect } from './connection/connect.ts'
import { allMessagesOf, rpcClient } from './connection/rpc.ts'
import { httpAddress } from './connection/server-addresses.ts'
import { serverFault } from './connection/server-fault.ts'
import { parseTarget, type Target } from './connection/target.ts'
import { executionClient } from './execution/execution-client.ts'
import { type GridClient, gridClient } from './execution/grid-client.ts'
import { type CommandOutcome, type CommandRequest, runRemoteCommand } from './remote-command.ts'
import { type SnippetsClient, snippetsClient } from './snippets/snippets.ts'
import { sendDirectory } from './trees/local-tree.ts'
import { type SubmissionsClient, submissionsClient } from './workflows/client.ts'
import { apiCaller } from './workflows/http.ts'

export interface GridConnectionOptions {
  /** The instance (REAPI's instance_name) of all calls. Default: the unnamed one. */
  readonly instance?: string
  /** Certificates in PEM, for `grpcs://` and `https://`. `snippets()` uses Node's own certificates instead. */
  readonly tls?: ClientTls
  /** Sent with every call, for example to a proxy that authenticates clients. */
  readonly headers?: Readonly<Record<string, string>>
  /** Default: `sha256`. */
  readonly digestFunction?: DigestFunction
}

/** A connection to one server. The network is first used by the first call. */
export interface GridConnection {
  /** Uploads a file or a directory of this machine, as far as the server does not hold it, and returns its digest. */
  upload(path: string): Promise<Digest>
  uploadBytes(bytes: Uint8Array): Promise<Digest>
  /** Reads a blob into memory and verifies it. */
  read(digest: Digest): Promise<Uint8Array>
  /** Runs a command; throws CommandFailed when the grid has no result. Aborting cancels the command. */
  run(request: CommandRequest, signal?: AbortSignal): Promise<CommandOutcome>
  /** The code API, at the HTTP address that the server reports. */
  snippets(): Promise<SnippetsClient>
  /** The workflow API, at the HTTP address that the server reports. */
  workflows(): Promise<SubmissionsClient>
  /** Tasks and workers: lists, reasons for waiting, cancelling, draining. */
  readonly admin: GridClient
  /** Ends the connection; calls in progress fail. */
  close(): void
  [Symbol.dispose](): void
}

/** The clock, ids and name that the process gives to a connection. */
export interface ConnectionTools {
  readonly clock: Clock
  readonly newId: () => string
  readonly about: RequestMetadata
}

const UNMETERED = { found() {}, moved() {}, held() {} }

export function openGridConnection(
  server: string,
  { instance = '', tls = {}, headers = {}, digestFunction: fn = 'sha256' }: GridConnectionOptions,
  { clock, newId, about }: ConnectionTools,
): GridConnection {
  const target = targetOf(server)
  const channel = connect(target, { clock, tls, headers })
  const rpcs = rpcClient(channel)
  const leaving = new AbortController()
  const { signal } = leaving
  const client = casClient({ rpcs, instance, fn, newId, signal })
  const meter = UNMETERED
  const explained = async <T>(work: () => Promise<T>): Promise<T> => {
    await prepareHashing()
    return work().catch((error: unknown) => Promise.reject(serverFault(error, target)))
  }
  const pause = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve))
  const url = () => httpUrl(target, { clock, tls })
  const callers: { close(): void }[] = []
  const close = (): void => {
    leaving.abort()
    for (const each of callers) each.close()
    channel.close()
  }
  return {
    upload: (path) => explained(() => sendPath(path, client)),
    uploadBytes: (bytes) => explained(() => sendBytes(bytes, client)),
    read: (digest) => explained(async () => Buffer.concat(await allMessagesOf(blobPieces(client, digest, meter)))),
    run: (request, stop) =>
      explained(() => {
        const both = stop === undefined ? signal : AbortSignal.any([signal, stop])
        const execution = executionClient({
          ...{ rpcs, about: { ...about, toolInvocationId: newId() }, pause, signal: both, dropped() {} },
          monotonic: clock.monotonic,
        })
        return runRemoteCommand(request, { client, execution, instance, newId, meter, signal: both })
      }),
    snippets: async () => snippetsClient({ url: (await url()).href, clock }),
    async workflows() {
      const caller = apiCaller({ url: await url(), tls, headers })
      callers.push(caller)
      return submissionsClient(caller, signal)
    },
    admin: gridClient(rpcs, signal),
    close,
    [Symbol.dispose]: close,
  }
}

function targetOf(server: string): Target {
  const target = parseTarget(server)
  if (target !== undefined) return target
  throw invalid(`the server "${server}" is none of grpc://host:port, grpcs://, http://, https:// and unix:/path`)
}

const uploadsTo = (client: CasClient): Uploader =>
  uploader({ client, meter: UNMETERED, compress: true, inChunks: true })

async function sendPath(path: string, client: CasClient): Promise<Digest> {
  const { fn } = client
  const uploads = uploadsTo(client)
  const send = async (): Promise<Digest> => {
    if ((await stat(path)).isDirectory()) return await sendDirectory(path, { fn, blob: uploads.add, seen() {} })
    const blob = await fileBlob(path, fn)
    await uploads.add(blob)
    return blob.digest
  }
  const digest = await send()
  await uploads.finish()
  return digest
}

async function sendBytes(bytes: Uint8Array, client: CasClient): Promise<Digest> {
  const digest = digestOf(client.fn, bytes)
  const uploads = uploadsTo(client)
  await uploads.add(bufferBlob('the bytes', digest, bytes))
  await uploads.finish()
  return digest
}

async function httpUrl(target: Target, options: Parameters<typeof httpAddress>[1]): Promise<URL> {
  const address = (await httpAddress(target, options)) ?? (target.byHttp === true ? target.address : undefined)
  if (address === undefined || 'path' in address)
    throw new FaultError({ kind: 'unavailable', what: `${target.text}: the server reports no HTTP host and port` })
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return new URL(`${target.secure ? 'https' : 'http'}://${host}:${address.port}`)
}
