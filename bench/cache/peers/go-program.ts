/** Programs that are published as Go modules: built once, from source, by the Go that is at hand. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from './cache-folder.ts'

export interface GoProgram {
  readonly name: string
  /** As `go install` takes it, version included. */
  readonly from: string
}

export type Obtained = { readonly program: string } | { readonly absent: string }

const LONGEST_BUILD_MS = 600_000

export function obtainGoProgram({ name, from }: GoProgram): Obtained {
  const folder = cacheFolder('go-programs')
  const program = join(folder, `${name}-${from.slice(from.lastIndexOf('@') + 1)}`)
  if (existsSync(program)) return { program }
  // Built aside and moved into place, so that two runs at once cannot meet half a program.
  const building = mkdtempSync(join(folder, 'building-'))
  try {
    const env = { ...process.env, GOBIN: building }
    const go = spawnSync('go', ['install', from], { encoding: 'utf8', env, timeout: LONGEST_BUILD_MS })
    if (go.error !== undefined) return { absent: 'it is built with Go, which is not at hand' }
    if (go.status !== 0) return { absent: `go install ${from} failed: ${lastWords(go.stderr)}` }
    renameSync(join(building, name), program)
    return { program }
  } finally {
    rmSync(building, { recursive: true })
  }
}

const lastWords = (output: string): string => output.trim().split('\n').slice(-2).join(' ').replace(/\s+/g, ' ')
