import type { Digest, DigestFunction } from '../../base/digest.ts'
import { checkedDigest } from '../../base/digest-text.ts'
import { invalid } from '../../base/fault.ts'
import type { Digest as DigestProto } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { Shape } from '../messages/well-formed.ts'

export const DIGEST_SHAPE: Shape = { 1: 'text', 2: 'number' }

export const digestToProto = ({ hash, size }: Digest): DigestProto => ({ hash, sizeBytes: size })

/** `what` says whose digest it is, for when there is none. */
export function digestFromProto(proto: DigestProto | undefined, fn: DigestFunction, what: string): Digest {
  const digest = optionalDigestFromProto(proto, fn)
  if (digest === undefined) throw invalid(`${what} has no digest`)
  return digest
}

/** A digest with nothing in it is the same as none. */
export const optionalDigestFromProto = (proto: DigestProto | undefined, fn: DigestFunction): Digest | undefined =>
  proto === undefined || (proto.hash === '' && proto.sizeBytes === 0)
    ? undefined
    : checkedDigest(fn, proto.hash, proto.sizeBytes)
