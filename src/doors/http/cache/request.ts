import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { type DigestFunction, digestFunctionByHexLength } from '../../../base/digest.ts'
import { isHash } from '../../../base/digest-text.ts'
import { FaultError, invalid } from '../../../base/fault.ts'
import { type InstanceName, instanceNameProblem } from '../../../model/instance-name.ts'
import type { Instance, Instances } from '../../../services/instances/instances.ts'
import type { StoredForm } from '../../../storage/blob-store.ts'

/** The blob or result that a path names: `/cas/<hash>`, or with an instance before it `/team/linux/cas/<hash>`. */
export interface CacheName {
  readonly instanceName: InstanceName
  readonly instance: Instance
  readonly fn: DigestFunction
  readonly hash: string
}

/** The length of the hash determines the digest function. If several have that length, the instance determines it. */
export function cacheNameIn(c: Context, instances: Instances): CacheName {
  const instanceName = c.req.param('instance') ?? ''
  const hash = c.req.param('hash') ?? ''
  const problem = instanceNameProblem(instanceName)
  if (problem !== undefined) throw invalid(`the instance name ${quoted(instanceName)} ${problem}`)
  const instance = instances(instanceName)
  const fn = digestFunctionByHexLength(hash.length, instance.unnamedFunction)
  if (fn === undefined || !isHash(fn, hash)) {
    throw invalid(`${quoted(hash)} is not a hash: it must be lower-case hex digits, 64 of them for SHA-256`)
  }
  return { instanceName, instance, fn, hash }
}

const quoted = (text: string): string => JSON.stringify(text.length > 140 ? `${text.slice(0, 140)}…` : text)

/** The part of the requested range that the blob has. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

const ONE_RANGE = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/i

/**
 * One range (RFC 9110, 14.1.2). Undefined stands for the whole blob: the answer to no range, several ranges or an
 * invalid one. `beyond` is a range after the end of the blob.
 */
export function byteRangeIn(header: string | undefined, size: number): ByteRange | 'beyond' | undefined {
  const parts = ONE_RANGE.exec(header?.trim() ?? '')
  if (parts === null) return undefined
  const [, from, to, suffix] = parts
  if (suffix !== undefined) {
    const count = Math.min(Number(suffix), size)
    return count === 0 ? 'beyond' : { first: size - count, last: size - 1 }
  }
  const first = Number(from)
  const last = to === undefined || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (first >= size) return 'beyond'
  return last < first ? undefined : { first, last }
}

/** Whether Accept-Encoding names zstd with a weight above 0. A `*` does not prove that the client can decode zstd. */
export function acceptsZstd(header: string | undefined): boolean {
  return (header ?? '').split(',').some((part) => {
    const [coding = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase())
    return coding === 'zstd' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

/** The form of a body, from its Content-Encoding. */
export function formOfBody(c: Context, takesZstd: boolean): StoredForm {
  const coding = (c.req.header('content-encoding') ?? 'identity').trim().toLowerCase()
  if (coding === 'identity') return 'identity'
  if (coding === 'zstd' && takesZstd) return 'zstd'
  const message = takesZstd
    ? 'Send a blob without a Content-Encoding, or with Content-Encoding: zstd'
    : 'Send an action result without a Content-Encoding'
  throw new HTTPException(415, { message })
}

/**
 * Resolves when the response is the next on its connection. A client may pipeline hundreds of requests in one read of
 * the socket: without this, the server would open as many blobs for a client that may read none.
 */
export async function ownTurn(c: Context): Promise<void> {
  const { incoming, outgoing } = (c.env ?? {}) as Partial<HttpBindings>
  if (incoming === undefined || outgoing === undefined || outgoing.socket !== null) return
  const isOver = await new Promise<boolean>((resolve) => {
    outgoing.once('socket', () => resolve(false))
    incoming.once('close', () => resolve(true))
    if (incoming.destroyed) resolve(true)
  })
  if (isOver) throw new FaultError({ kind: 'cancelled', what: 'the client disconnected' })
}
