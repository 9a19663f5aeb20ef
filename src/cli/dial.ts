import { readFileSync } from 'node:fs'
import { lastingClock } from '../app/clock.ts'
import { invalid } from '../base/fault.ts'
import { connect } from '../client/connect.ts'
import { parseTarget, type Target } from '../client/target.ts'
import type { DialOptions } from './dial-flags.ts'

/** The server that a flag names. */
export function targetOf(flag: '--server' | '--target', text: string): Target {
  const target = parseTarget(text)
  if (target === undefined)
    throw invalid(`${flag}: ${text} is none of grpc://host:port, grpcs://host:port and unix:/path`)
  return target
}

export function dial(target: Target, { ca, cert, key, header = [] }: DialOptions): ReturnType<typeof connect> {
  const tls = { ...pem('ca', ca), ...pem('cert', cert), ...pem('key', key) }
  if (!target.secure && Object.keys(tls).length > 0) throw invalid('--ca, --cert and --key are for grpcs:// servers')
  const headers = header.map((text) => pairOf('--header', text)).map(({ name, value }) => [name.toLowerCase(), value])
  // A call that waits for a connection may be all that the program does.
  return connect(target, { clock: lastingClock, tls, headers: Object.fromEntries(headers) })
}

function pem(flag: 'ca' | 'cert' | 'key', file: string | undefined): Record<string, string> {
  if (file === undefined) return {}
  try {
    return { [flag]: readFileSync(file, 'utf8') }
  } catch (error) {
    throw invalid(`--${flag}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** What a flag says as `name=value`. */
export function pairOf(flag: string, text: string): { readonly name: string; readonly value: string } {
  const at = text.indexOf('=')
  if (at < 1) throw invalid(`${flag}: ${text} is not name=value`)
  return { name: text.slice(0, at), value: text.slice(at + 1) }
}
