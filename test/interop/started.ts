import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'

export interface Startable {
  close(): void | Promise<void>
}

/** Closes everything that a test starts at its end, last first. To be called at the top of a test file. */
export function startedHere(): <T extends Startable>(thing: T | Promise<T>) => Promise<T> {
  const running: Startable[] = []
  afterEach(async () => {
    for (const thing of running.splice(0).reverse()) await thing.close()
  })
  return async (thing) => {
    const it = await thing
    running.push(it)
    return it
  }
}

/** A path for a Unix socket. */
export function socketPlace(): Startable & { readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-interop-'))
  return { path: join(folder, 'grpc.sock'), close: () => rmSync(folder, { recursive: true, force: true }) }
}
