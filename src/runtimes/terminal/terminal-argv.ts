import type { FaultError } from '../../base/fault.ts'
import type { LaunchSpec } from '../launcher/launcher.ts'
import { mismatch } from '../run/mismatch.ts'
import type { Run } from '../run/runtime.ts'

/**
 * A terminal without native code: script(1) makes one for its command, inside the room, and copies input and output.
 * script copies the size from its own terminal, and it has none here. So a shell beside it reads sizes from a
 * descriptor and applies them with stty(1). All three run in the room like any other process of the command. The shell
 * must be the parent of both, because script waits for the child that ends first.
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

/** The processes of a terminal in addition to the command's own: two shells, script, and sometimes stty. */
export const TERMINAL_PROCESSES = 4

const STANDARD_STREAMS = 3
const DEFAULT_TERM = 'xterm-256color'

/** The command's argv, preceded at a terminal by the programs that make one. `env` is its environment. */
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

/** Quotes text for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

export const noTerminal = (): FaultError => mismatch('in a container there are no terminals')
