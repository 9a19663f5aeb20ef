import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const BYTES = 32
const FORM = /^[0-9a-f]{64}$/

/**
 * What names results of stages apart from all that clients can name: they may put what they like into the action cache of their
 * instance, but cannot tell where a compiled program will be looked for. The same after a restart; a new one only loses hits.
 */
export function stageSalt(dataDir: string): string {
  const file = join(dataDir, 'stage-cache.key')
  try {
    const kept = readFileSync(file, 'utf8').trim()
    if (FORM.test(kept)) return kept
  } catch {
    // not there yet
  }
  const made = randomBytes(BYTES).toString('hex')
  try {
    mkdirSync(dataDir, { recursive: true })
    writeFileSync(file, `${made}\n`, { mode: 0o600 })
  } catch {
    // for this life only, then
  }
  return made
}
