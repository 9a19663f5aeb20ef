import { type BuildStep, TOOL_ENV } from './build-step.ts'
import { runProgram } from './run-program.ts'

/**
 * Runs dpkg to configure the unpacked packages, in a room that sees only the new system: package scripts run there as
 * its root. Some need features that are missing there, such as other users, and fail; the language's self-test decides
 * whether that matters. Returns the names of those packages.
 */
export async function configurePackages(root: string, { onProgress, signal }: BuildStep): Promise<readonly string[]> {
  onProgress('setting up packages', undefined)
  const room = [
    ...['--unshare-all', '--unshare-user', '--uid', '0', '--gid', '0', '--die-with-parent', '--new-session'],
    ...['--bind', root, '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/run', '--clearenv'],
    ...Object.entries({ ...TOOL_ENV, HOME: '/tmp' }).flatMap(([name, value]) => ['--setenv', name, value]),
  ]
  const forces = ['--force-depends', '--force-bad-path', '--force-confold', '--abort-after=10000']
  const { stderr } = await runProgram(
    {
      argv: ['bwrap', ...room, '--', 'dpkg', '--configure', '--pending', ...forces],
      env: TOOL_ENV,
      mayFail: true,
    },
    signal,
  )
  const failed = stderr.split('Errors were encountered while processing:\n')[1] ?? ''
  return failed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
