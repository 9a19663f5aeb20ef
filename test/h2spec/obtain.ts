import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The newest release that Go can install under its own module path: later tags lack the `/v2` that Go requires. */
const VERSION = 'v2.2.1+incompatible'
const PACKAGE = `github.com/summerwind/h2spec/cmd/h2spec@${VERSION}`
export const USUAL_CACHE = resolve(import.meta.dirname, `../../node_modules/.cache/h2spec/${VERSION}`)

export type Obtained = { readonly program: string } | { readonly missing: string }

/** h2spec from the cache, or built from source by Go: it is not available as a package. */
export function obtainH2spec(cache: string): Obtained {
  const program = join(cache, 'h2spec')
  if (existsSync(program)) return { program }
  mkdirSync(cache, { recursive: true })
  // Built aside and renamed, so that a concurrent run never finds half a program.
  const building = mkdtempSync(join(cache, 'building-'))
  try {
    const go = spawnSync('go', ['install', PACKAGE], { encoding: 'utf8', env: { ...process.env, GOBIN: building } })
    if (go.error !== undefined) return { missing: `h2spec is built with Go, which is not at hand.\n${HOW_TO_GET_GO}` }
    if (go.status !== 0) return { missing: `go install ${PACKAGE} failed:\n${go.stderr}` }
    renameSync(join(building, 'h2spec'), program)
    return { program }
  } finally {
    rmSync(building, { recursive: true })
  }
}

const HOW_TO_GET_GO = 'Install it with your system (apt install golang-go, brew install go) or from https://go.dev/dl/.'
