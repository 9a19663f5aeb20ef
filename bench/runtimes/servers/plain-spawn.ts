/** A minimal Node process that only starts `true`: the floor for all other ways. */
import { spawn } from 'node:child_process'
import { answerWith } from '../../child.ts'

answerWith(
  () =>
    new Promise<number>((resolve) => {
      const start = performance.now()
      const child = spawn('/bin/true', [], { stdio: ['ignore', 'pipe', 'pipe'], env: {}, detached: true })
      child.stdout.resume()
      child.stderr.resume()
      child.once('close', () => resolve(performance.now() - start))
    }),
)
