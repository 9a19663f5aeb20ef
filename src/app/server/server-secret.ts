import { createHmac, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const BYTES = 32
const FORM = /^[0-9a-f]{64}$/

/**
 * The server's secret: part of every key of cached results of command tasks. It survives restarts. Losing it loses
 * cache hits, nothing else.
 */
export function serverSecret(dataDir: string): string {
  const file = join(dataDir, 'stage-cache.key')
  try {
    const kept = readFileSync(file, 'utf8').trim()
    if (FORM.test(kept)) return kept
  } catch {
    // The file does not exist yet.
  }
  const made = randomBytes(BYTES).toString('hex')
  try {
    mkdirSync(dataDir, { recursive: true })
    writeFileSync(file, `${made}\n`, { mode: 0o600 })
  } catch {
    // The directory is not writable: this secret lasts until the server stops.
  }
  return made
}

/** Sent to workers with every cached stage, so it is derived from the secret. */
export const stageSalt = (secret: string): string => createHmac('sha256', secret).update('stage salt').digest('hex')
