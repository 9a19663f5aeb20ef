import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** A process of ours that answers one question at a time, and is gone on every way out of this one. */
export interface Child extends AsyncDisposable {
  ask<Answer>(question: object): Promise<Answer>
}

type Reply = { readonly answer: unknown } | { readonly error: string }

const LONGEST_ANSWER_MS = 120_000
const living = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

/** Ends with this process, whichever way that ends. */
export function tethered(child: ChildProcess): ChildProcess {
  living.add(child)
  return child.once('exit', () => living.delete(child))
}

export function startChild(file: URL): Child {
  // stdout is a log's place and goes nowhere: the parent's holds the table.
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
      child.off('message', heard).off('exit', lost)
      done()
    }
    const heard = (message: Reply) =>
      settle(() => ('error' in message ? reject(new Error(message.error)) : resolve(message.answer as Answer)))
    const lost = () => settle(() => reject(new Error(`${child.spawnargs.at(-1)} ended before it answered`)))
    const timer = setTimeout(() => settle(() => reject(new Error('a child did not answer in time'))), LONGEST_ANSWER_MS)
    child.on('message', heard).once('exit', lost)
    if (child.connected) child.send(question)
    else lost()
  })
}

/** The child's side: one function answers all questions; without a parent there is nothing left to do. */
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
