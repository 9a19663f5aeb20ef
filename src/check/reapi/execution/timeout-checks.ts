import { STATUS } from '../../../grpc/status.ts'
import { ensure, NotOffered, same, Unmet } from '../../unmet.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { ExecutionId } from '../table/behaviours.ts'
import { patiently } from './patiently.ts'
import { endsWith, runForStdout, stdoutText } from './read-result.ts'

const within = (seconds: number) => ({ timeout: { seconds } })
const TEN_YEARS_S = 10 * 365 * 24 * 3600

/** Counts for ten seconds in the background, in its own session where setsid exists. */
const COUNTS = `
count() { i=0; while [ $i -lt 10 ]; do echo x >> "$1"; sleep 1; i=$((i+1)); done; }
if [ "$2" = count ]; then count "$1"; exit; fi
file="$1.$$"
if command -v setsid > /dev/null; then setsid sh -c "$3" sh "$file" count & else (count "$file") & fi
sleep 10`

/** Commands may have different users, and cannot remove each other's files: the newest is this check's own. */
const LOOKS = `
file=$(ls -t "$1".* 2> /dev/null | head -n 1)
[ -f "$file" ] || { echo unseen; exit; }
before=$(wc -c < "$file"); sleep 2; after=$(wc -c < "$file"); rm -f "$file" 2> /dev/null
[ "$before" -eq "$after" ] && echo still || echo counting`

async function leftRunning(probe: Probe, seconds: number): Promise<string> {
  const file = `/tmp/check-${probe.random.word()}`
  const order = { script: COUNTS, args: [file, '', COUNTS], action: within(seconds) }
  endsWith('it', await probe.executions.try(order), STATUS.deadlineExceeded)
  return (await runForStdout(probe, { script: LOOKS, args: [file], action: { doNotCache: true } })).trim()
}

export const timeoutChecks = {
  async 'timeout.expired'({ executions }) {
    const ending = await executions.try({ script: 'sleep 5', action: within(1) })
    endsWith('it', ending, STATUS.deadlineExceeded)
    ensure(ending.last?.response !== undefined, 'a response', 'a call that ended with that status')
  },
  'timeout.partial-output': patiently(async (probe, seconds) => {
    const { last } = await probe.executions.try({ script: 'printf begun; sleep 9', action: within(seconds) })
    const result = last?.response?.result
    if (result === undefined) throw new Unmet('a result', 'none')
    same('stdout', await stdoutText(probe, result), 'begun')
  }),
  async 'timeout.background'({ executions, soon }) {
    const digest = await executions.store({ script: '(sleep 20) & sleep 20', action: within(1) })
    const ending = await soon(executions.end(executions.open(digest)))
    ensure(ending !== undefined, 'the end of the command after 1 s', 'no end after that time')
    endsWith('it', ending, STATUS.deadlineExceeded)
  },
  async 'timeout.tree-killed'(probe) {
    const first = await leftRunning(probe, 1)
    // After one second it may not have written anything.
    const seen = first === 'unseen' ? await leftRunning(probe, 4) : first
    if (seen === 'unseen') throw new NotOffered('commands of this server do not share a /tmp')
    same('the background process is', seen, 'still')
  },
  async 'timeout.too-long'({ executions }) {
    const ending = await executions.try({ action: within(TEN_YEARS_S) })
    if (ending.code === STATUS.ok) throw new NotOffered('the server accepts a timeout of ten years')
    endsWith('it', ending, STATUS.invalidArgument, STATUS.failedPrecondition, STATUS.outOfRange)
  },
  async 'timeout.negative'({ executions }) {
    endsWith('it', await executions.try({ action: within(-1) }), STATUS.invalidArgument)
  },
  async 'timeout.in-time'(probe) {
    same('stdout', await runForStdout(probe, { script: 'printf done', action: within(60) }), 'done')
  },
} satisfies Partial<Record<ExecutionId, Check>>
