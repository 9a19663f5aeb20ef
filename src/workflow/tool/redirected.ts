/** Files that replace standard streams, by absolute paths. */
export interface Redirections {
  readonly stdin?: string | undefined
  readonly stdout?: string | undefined
  readonly stderr?: string | undefined
}

/**
 * A command whose streams are files. A shell opens them and execs the command: the bytes do not pass through the
 * worker, so their number is not limited.
 */
export function redirected(argv: readonly string[], { stdin, stdout, stderr }: Redirections): readonly string[] {
  const paths = [stdin, stdout, stderr === stdout ? undefined : stderr]
  const given = paths.filter((path) => path !== undefined)
  if (given.length === 0) return argv
  const words = paths.flatMap((path, stream) =>
    path === undefined ? [] : [`${STREAM_OPENERS[stream]}"$${given.indexOf(path) + 1}"`],
  )
  const joined = stderr !== undefined && stderr === stdout ? ['2>&1'] : []
  // The redirections use the paths before `shift` removes them from the command's arguments.
  const script = `exec ${[...words, ...joined].join(' ')}; shift ${given.length}; exec "$@"`
  return ['/bin/sh', '-c', script, 'sh', ...given, ...argv]
}

const STREAM_OPENERS = ['<', '>', '2>'] as const
