import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'

export interface Startable {
  close(): void | Promise<void>
}

/** What a test starts ends with the test: the last first. To be called at the top of a test file. */
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

/** A place for a socket file. */
export function socketPlace(): Startable & { readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-interop-'))
  return { path: join(folder, 'grpc.sock'), close: () => rmSync(folder, { recursive: true, force: true }) }
}
