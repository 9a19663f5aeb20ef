import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FaultError } from '../../base/fault.ts'
import { type BuildStep, TOOL_ENV } from './build-step.ts'
import { runProgram } from './run-program.ts'

export interface DownloadRequest {
  readonly packages: readonly string[]
  /** An empty folder that only this build uses. */
  readonly folder: string
}

/**
 * Downloads packages with all their dependencies, using this machine's apt as for a machine without any package: it
 * knows the sources and checks signatures. The machine is not changed, and root is not needed.
 */
export async function downloadPackages(
  { packages, folder }: DownloadRequest,
  { onProgress, signal }: BuildStep,
): Promise<readonly string[]> {
  const [archives, status] = [join(folder, 'archives'), join(folder, 'status')]
  mkdirSync(join(archives, 'partial'), { recursive: true })
  writeFileSync(status, '')
  const settings = {
    'Dir::State::status': status,
    'Dir::State::extended_states': join(folder, 'extended_states'),
    'Dir::Cache::archives': archives,
    'Dir::Cache::pkgcache': '',
    'Dir::Cache::srcpkgcache': '',
    'Debug::NoLocking': '1',
    'APT::Sandbox::User': 'root',
    'APT::Status-Fd': '3',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  try {
    await runProgram(
      {
        argv: [
          'apt-get',
          '-qq',
          '-y',
          '--no-install-recommends',
          '--download-only',
          ...flags,
          'install',
          '--',
          ...packages,
        ],
        env: TOOL_ENV,
        status: (line) => onProgress('fetching packages', partOf(line)),
      },
      signal,
    )
  } catch (error) {
    if (error instanceof FaultError && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT')
      throw new FaultError(
        { kind: 'unavailable', what: 'apt-get was not found: on other systems than Debian, name a folder with --from' },
        error,
      )
    throw error
  }
  return readdirSync(archives)
    .filter((name) => name.endsWith('.deb'))
    .sort()
    .map((name) => join(archives, name))
}

/** In apt's format: `dlstatus:3:41.2:Retrieving file 3 of 73`. */
function partOf(line: string): number | undefined {
  const percent = /^dlstatus:\d+:([\d.]+):/.exec(line)?.[1]
  return percent === undefined ? undefined : Number(percent) / 100
}
