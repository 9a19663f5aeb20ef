import {
  DIGEST_FUNCTIONS,
  type DigestFunction,
  digestFunctionByHexLength,
  digestFunctionByNumber,
} from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import { DigestFunction_Value as Value } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'

/**
 * What a hash is taken for in an instance when a request names no function and the length fits several: 64 hex digits
 * are SHA-256 to most clients, and BLAKE3 to a client whose instance was set up for it, which never says so.
 */
export type UnnamedFunction = (instance: string) => DigestFunction

export const sha256Unnamed: UnnamedFunction = () => 'sha256'

/** The function of a request: by the number that it names or, for 0, by the length of its hashes (0 without any). */
export function digestFunctionOf(number: number, hexLength: number, unnamed: DigestFunction): DigestFunction {
  const fn = number === 0 ? functionByLength(hexLength, unnamed) : digestFunctionByNumber(number)
  if (fn === undefined) throw invalid(`digest function ${nameOf(number)} is not supported`)
  const digits = DIGEST_FUNCTIONS[fn].hashBytes * 2
  if (hexLength !== 0 && hexLength !== digits)
    throw invalid(`a hash of ${fn} has ${digits} hex digits, and this one ${hexLength}`)
  return fn
}

/** `unnamed` decides where it fits, and where there is nothing to go by. */
export function functionByLength(hexLength: number, unnamed: DigestFunction): DigestFunction {
  const fn = hexLength === 0 ? unnamed : digestFunctionByHexLength(hexLength, unnamed)
  if (fn === undefined) throw invalid(`a hash has ${hexLength} digits, as no digest function makes them`)
  return fn
}

export const digestFunctionNumber = (fn: DigestFunction): Value => DIGEST_FUNCTIONS[fn].number

/** One or none: other servers have functions that we do not. */
export function knownFunction(number: Value): DigestFunction[] {
  const fn = digestFunctionByNumber(number)
  return fn === undefined ? [] : [fn]
}

const nameOf = (number: number): string =>
  Object.entries(Value).find(([, value]) => value === number)?.[0] ?? String(number)
