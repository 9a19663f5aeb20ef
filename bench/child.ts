import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** A child process that answers one question at a time. It is killed when this process ends in any way. */
export interface Child extends AsyncDisposable {
  ask<Answer>(question: object): Promise<Answer>
}

type Reply = { readonly answer: unknown } | { readonly error: string }

const LONGEST_ANSWER_MS = 120_000
const living = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

/** Kills the child when this process ends in any way. */
export function tethered(child: ChildProcess): ChildProcess {
  living.add(child)
  return child.once('exit', () => living.delete(child))
}

export function startChild(file: URL): Child {
  // stdout is discarded: it would contain logs, and the parent's stdout contains the table.
  const process = tethered(fork(file, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }))
  return {
    ask: <Answer>(question: object) => reply<Answer>(process, question),
    async [Symbol.asyncDispose]() {
      if (process.exitCode !== null || process.signalCode !== null) return
      const gone = once(process, 'exit')
      process.kill('SIGKILL')
      await gone
    },
  }
}

function reply<Answer>(child: ChildProcess, question: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => {
      clearTimeout(timer)
      child.off('message', received).off('exit', lost)
      done()
    }
    const received = (message: Reply) =>
      settle(() => ('error' in message ? reject(new Error(message.error)) : resolve(message.answer as Answer)))
    const lost = () => settle(() => reject(new Error(`${child.spawnargs.at(-1)} ended before it answered`)))
    const timer = setTimeout(() => settle(() => reject(new Error('a child did not answer in time'))), LONGEST_ANSWER_MS)
    child.on('message', received).once('exit', lost)
    if (child.connected) child.send(question)
    else lost()
  })
}

/** The child's side: answers all questions with one function, and exits when the parent disconnects. */
export function answerWith<Question>(answer: (question: Question) => unknown): void {
  process.once('disconnect', () => process.exit(0))
  process.on('message', async (question: Question) => {
    try {
      process.send?.({ answer: await answer(question) } satisfies Reply)
    } catch (error) {
      process.send?.({ error: error instanceof Error ? error.message : String(error) } satisfies Reply)
    }
  })
}
