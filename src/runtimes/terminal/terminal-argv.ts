import type { FaultError } from '../../base/fault.ts'
import type { LaunchSpec } from '../launcher/launcher.ts'
import { mismatch } from '../run/mismatch.ts'
import type { Run } from '../run/runtime.ts'

/**
 * A terminal without native code: script(1) makes one for its command, within the room, and hands on what goes in and
 * out. It takes the size of a terminal from the one that it is at, and it is at none: so a shell beside it reads sizes
 * from a descriptor and lays them on with stty(1). All three are in the room like any other process of the command.
 *
 * A shell that is not the parent of both would not do: script waits for whichever child it finds.
 */
const AT_TERMINAL = `
fd=$1 inner=$2
tool() { for dir in /usr/bin /bin; do [ -x "$dir/$1" ] && echo "$dir/$1" && return; done; }
script=$(tool script) stty=$(tool stty)
if [ -z "$script" ] || [ -z "$stty" ]; then
  echo "windlass: a terminal needs script (util-linux) and stty (coreutils), which this room does not have" >&2
  exit 126
fi
eval "exec 9<&$fd $fd<&-"
{ while read -r terminal rows columns; do "$stty" -F "$terminal" rows "$rows" cols "$columns"; done; } <&9 >/dev/null 2>&1 9<&- &
exec 9<&-
SHELL=/bin/sh "$script" -qfec "$inner" /dev/null
exit $?`

/** Those of a terminal beside the command's own: two shells, script, and stty now and then. */
export const TERMINAL_PROCESSES = 4

const STANDARD_STREAMS = 3
const DEFAULT_TERM = 'xterm-256color'

/** The command's argv; at a terminal behind what makes one. `env` is what it will find. */
export function argvInTerminal(
  { command, terminal }: Run,
  env: ReadonlyMap<string, string>,
  order: Pick<LaunchSpec, 'handed' | 'hasStatus'>,
): readonly string[] {
  if (terminal === undefined) return command.argv
  const fd = STANDARD_STREAMS + (order.handed?.length ?? 0) + (order.hasStatus === true ? 1 : 0)
  const shell = env.get('SHELL')
  const inner = [
    `stty rows ${Math.trunc(terminal.rows)} cols ${Math.trunc(terminal.columns)}`,
    shell === undefined ? 'unset SHELL' : `SHELL=${quoted(shell)}`,
    ...(env.has('TERM') ? [] : [`export TERM=${DEFAULT_TERM}`]),
    `exec ${command.argv.map(quoted).join(' ')}`,
  ]
  return ['/bin/sh', '-c', AT_TERMINAL, 'terminal', `${fd}`, inner.join('; ')]
}

/** For a shell: nothing in it has a meaning. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

export const noTerminal = (): FaultError => mismatch('in a container there are no terminals')
