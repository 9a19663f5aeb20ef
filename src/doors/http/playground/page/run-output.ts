import type { OutputJson, TaskJson } from './code-api.ts'
import type { OutputPane } from './output-view.ts'

/** The output of one run: live, and at the end from the result if parts were missed. */
export interface RunOutput {
  printed(output: OutputJson): void
  ended(task: TaskJson): void
}

/** Longer output is not compared with the result: the live output stays. */
const MOST_COMPARED = 4_000_000

export function runOutput(view: OutputPane): RunOutput {
  let attempt = 0
  let seen = { stdout: '', stderr: '' }
  let missed = 0
  view.clear()
  return {
    printed(output) {
      if (attempt !== 0 && output.attempt > attempt) {
        view.clear()
        view.add('note', `(attempt ${output.attempt}: the worker of the one before was lost)\n`)
        seen = { stdout: '', stderr: '' }
      }
      attempt = output.attempt
      if (output.missed > 0) view.add('note', '\n(some of the output did not come in time)\n')
      missed += output.missed
      if (seen.stdout.length + seen.stderr.length < MOST_COMPARED) seen[output.stream] += output.text
      view.add(output.stream, output.text)
    },
    ended({ result }) {
      if (result === undefined) return view.drawAll()
      const stages = result.stages
      const isTruncated = stages.some(({ truncated }) => truncated)
      const isSeen =
        seen.stdout === stages.map(({ output }) => output).join('') &&
        seen.stderr === stages.map(({ error }) => error).join('')
      const sawMore = isTruncated && missed === 0 && seen.stdout.length + seen.stderr.length > 0
      if (!isSeen && !sawMore) {
        view.clear()
        for (const { output, error } of stages) {
          view.add('stdout', output)
          view.add('stderr', error)
        }
      }
      if (isTruncated) view.add('note', '\n(not all of the output was kept)\n')
      view.drawAll()
    },
  }
}
