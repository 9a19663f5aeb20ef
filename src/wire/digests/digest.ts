import {
  DIGEST_FUNCTIONS,
  type Digest,
  type DigestFunction,
  digestFunctionByHexLength,
  digestFunctionByNumber,
} from '../../base/digest.ts'
import { checkedDigest } from '../../base/digest-text.ts'
import { invalid } from '../../base/fault.ts'
import {
  type Digest as DigestProto,
  DigestFunction_Value as Value,
} from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { Shape } from '../messages/well-formed.ts'

export const DIGEST_SHAPE: Shape = { 1: 'text', 2: 'number' }

export const digestToProto = ({ hash, size }: Digest): DigestProto => ({ hash, sizeBytes: size })

/** `what` names the owner of the digest, for the error message. */
export function digestFromProto(proto: DigestProto | undefined, fn: DigestFunction, what: string): Digest {
  const digest = optionalDigestFromProto(proto, fn)
  if (digest === undefined) throw invalid(`${what} has no digest`)
  return digest
}

/** In protobuf an empty Digest message equals a field that is not set. */
export const optionalDigestFromProto = (proto: DigestProto | undefined, fn: DigestFunction): Digest | undefined =>
  proto === undefined || (proto.hash === '' && proto.sizeBytes === 0)
    ? undefined
    : checkedDigest(fn, proto.hash, proto.sizeBytes)

/**
 * The digest function of an instance, for a request that names none and whose hash length fits several: 64 hex digits
 * are SHA-256 for most clients, and BLAKE3 for the clients of an instance that is configured for it.
 */
export type UnnamedFunction = (instance: string) => DigestFunction

export const sha256Unnamed: UnnamedFunction = () => 'sha256'

/** The function with this number; for number 0, the one with this hash length (0 when the request has no hash). */
export function digestFunctionOf(number: number, hexLength: number, unnamed: DigestFunction): DigestFunction {
  const fn = number === 0 ? functionByLength(hexLength, unnamed) : digestFunctionByNumber(number)
  if (fn === undefined) throw invalid(`digest function ${nameOf(number)} is not supported`)
  const digits = DIGEST_FUNCTIONS[fn].hashBytes * 2
  if (hexLength !== 0 && hexLength !== digits)
    throw invalid(`a hash of ${fn} has ${digits} hex digits, and this one ${hexLength}`)
  return fn
}

/** `unnamed` is returned when its hashes have this length, and when there is no hash. */
export function functionByLength(hexLength: number, unnamed: DigestFunction): DigestFunction {
  const fn = hexLength === 0 ? unnamed : digestFunctionByHexLength(hexLength, unnamed)
  if (fn === undefined) throw invalid(`a hash has ${hexLength} digits, which fits no digest function`)
  return fn
}

export const digestFunctionNumber = (fn: DigestFunction): Value => DIGEST_FUNCTIONS[fn].number

const nameOf = (number: number): string =>
  Object.entries(Value).find(([, value]) => value === number)?.[0] ?? String(number)
