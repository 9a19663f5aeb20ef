import type { Context } from 'hono'
import type { Digest } from '../../../base/digest.ts'
import { digestListOf } from '../../../base/digest-list.ts'
import { createHasher } from '../../../base/hashing/create-hasher.ts'
import type { ActionResult } from '../../../model/action-result.ts'
import type { ActionName } from '../../../storage/action-cache.ts'
import { cannotBeMessage } from '../../../wire/messages/cannot-be-message.ts'
import { actionResultFromProto, actionResultToProto } from '../../../wire/reapi/action-result.ts'
import { sendBlob } from './blob-get.ts'
import type { CacheTools } from './cache-tools.ts'
import type { GatheredBody } from './gathered-body.ts'
import type { CacheName } from './request.ts'

/**
 * ccache, sccache and Gradle use /ac/ as a key-value store: their values are archives, not ActionResult messages. The
 * server stores such a value as a blob, and a result that names this blob, so that both are evicted together. The key
 * of the result is derived from the caller's key, so a client of the Remote Execution API never receives it.
 *
 * Only bytes that no protobuf parser accepts, sent with a content type, count as a value. So a malformed ActionResult
 * is never stored as a value that a Bazel client would read at the same path.
 */
export const isOpaqueValue = (c: Context, bytes: Uint8Array): boolean =>
  (c.req.header('content-type') ?? '') !== '' && cannotBeMessage(bytes)

/** A value is gathered in memory before its hash is known. */
export const MOST_VALUE_BYTES = 64 * 1024 * 1024

export async function putValue(name: CacheName, { bytes, hash }: GatheredBody): Promise<void> {
  const { instance, instanceName } = name
  const digest = { fn: instance.unnamedFunction, hash, size: bytes.length }
  // This process has just computed the hash, so a store that does not verify it is sufficient.
  await instance.blobs.writeMany(digestListOf(digest.fn, [digest]), [bytes])
  await instance.actions.put(instanceName, valueKey(name), actionResultToProto(resultNaming(digest)))
}

/** Returns undefined when there is no value under this key, or its blob has been evicted. */
export async function sendValue(c: Context, name: CacheName, tools: CacheTools): Promise<Response | undefined> {
  const { actions, blobs, unnamedFunction } = name.instance
  const result = await actions.get(name.instanceName, valueKey(name))
  const digest = result && actionResultFromProto(result, unnamedFunction).outputFiles[0]?.digest
  return digest && sendBlob(c, { blobs, digest }, tools)
}

function valueKey({ instance, fn, hash }: CacheName): ActionName {
  const hasher = createHasher(instance.unnamedFunction)
  hasher.update(Buffer.from(`windlass http cache value ${fn} ${hash}`))
  return { fn: instance.unnamedFunction, hash: Buffer.from(hasher.digest()).toString('hex') }
}

const resultNaming = (digest: Digest): ActionResult => ({
  exitCode: 0,
  outputFiles: [{ path: 'value', digest, executable: false, contents: undefined, properties: undefined }],
  outputDirectories: [],
  outputSymlinks: [],
  legacyFileSymlinks: [],
  legacyDirectorySymlinks: [],
  stdout: { digest: undefined, raw: undefined },
  stderr: { digest: undefined, raw: undefined },
  metadata: { worker: 'http-cache', times: {}, virtualDurationMs: undefined, auxiliary: [] },
})
