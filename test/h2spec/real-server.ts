import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnServer } from '../../bench/cache/peers/spawned.ts'
import { PROGRAM } from '../../bench/cache/peers/windlass.ts'
import { createAuthority } from '../../src/testing/certificates.ts'

export interface RealServer extends AsyncDisposable {
  /** The gRPC port. */
  readonly port: string
}

/** `windlass server` as users start it, in plaintext or with a certificate. */
export async function startRealServer(hasTls: boolean): Promise<RealServer> {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-h2spec-'))
  const config = join(folder, 'windlass.toml')
  writeFileSync(config, hasTls ? tlsSettings(folder) : '')
  const places = ['--grpc', '127.0.0.1:0', '--http', '127.0.0.1:0', '--data', join(folder, 'data')]
  const server = spawnServer({ program: PROGRAM, args: ['server', '--config', config, ...places, '--json'], folder })
  const close = async (): Promise<void> => {
    await server[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  try {
    const { grpc } = JSON.parse(await server.firstLine()) as { grpc: string }
    return { port: grpc.slice(grpc.lastIndexOf(':') + 1), [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

function tlsSettings(folder: string): string {
  const { cert, key } = createAuthority().server()
  const files = [join(folder, 'cert.pem'), join(folder, 'key.pem')] as const
  writeFileSync(files[0], cert)
  writeFileSync(files[1], key)
  return `[server.tls]\ncert_file = "${files[0]}"\nkey_file = "${files[1]}"\n`
}
