import { readFileSync } from 'node:fs'
import { lastingClock } from '../../app/process/clock.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { checkClientTls } from '../../app/process/tls-files.ts'
import { invalid } from '../../base/fault.ts'
import { type ConnectOptions, connect } from '../../client/connection/connect.ts'
import { parseTarget, type Target } from '../../client/connection/target.ts'
import { DEFAULT_SERVER, type DialOptions } from './dial-flags.ts'

/** The server of the flag, or of WINDLASS_SERVER, or of this machine. */
export const serverOf = ({ server }: DialOptions, { env }: Pick<Terminal, 'env'>): string =>
  server ?? (env.WINDLASS_SERVER || DEFAULT_SERVER)

/** The server that a flag names. */
export function targetOf(flag: '--server' | '--target', text: string): Target {
  const target = parseTarget(text)
  if (target === undefined)
    throw invalid(
      `${flag}: ${text} is none of grpc://host:port, grpcs://host:port, http://host:port, https://host:port and unix:/path`,
    )
  return target
}

/** The certificates and the key that flags name; ignored for a server without TLS. */
export function tlsOf({ secure }: Target, { ca, cert, key }: DialOptions): NonNullable<ConnectOptions['tls']> {
  const tls = { ...pem('ca', ca), ...pem('cert', cert), ...pem('key', key) }
  if (!secure && Object.keys(tls).length > 0)
    throw invalid('--ca, --cert and --key are for grpcs:// and https:// servers')
  checkClientTls('flags', tls)
  return tls
}

/** The headers that `--header name=value` flags name. */
export const headersOf = (header: readonly string[] = []): Readonly<Record<string, string>> =>
  Object.fromEntries(
    header.map((text) => pairOf('--header', text)).map(({ name, value }) => [name.toLowerCase(), value]),
  )

export const dial = (target: Target, options: DialOptions): ReturnType<typeof connect> =>
  // A call that waits for a connection may be the only work of the program.
  connect(target, { clock: lastingClock, tls: tlsOf(target, options), headers: headersOf(options.header) })

function pem(flag: 'ca' | 'cert' | 'key', file: string | undefined): Record<string, string> {
  if (file === undefined) return {}
  try {
    return { [flag]: readFileSync(file, 'utf8') }
  } catch (error) {
    throw invalid(`--${flag}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Parses a flag's `name=value`. */
export function pairOf(flag: string, text: string): { readonly name: string; readonly value: string } {
  const at = text.indexOf('=')
  if (at < 1) throw invalid(`${flag}: ${text} is not name=value`)
  return { name: text.slice(0, at), value: text.slice(at + 1) }
}
