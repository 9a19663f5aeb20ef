import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { systemClock } from '../../src/app/process/clock.ts'
import type { NewSnippet, SnippetTaskView } from '../../src/client/snippets/snippet-answers.ts'
import { snippetsClient } from '../../src/client/snippets/snippets.ts'
import { loadLanguages } from '../../src/languages/load-languages.ts'
import type { Child } from '../child.ts'
import type { RoomQuestion } from './servers/room.ts'

/** Runs one program `times` times, one after the other. Returns the time of each run, in ms. */
export type Contestant = (times: number) => Promise<readonly number[]>

/** The pause between two runs, in which a server may prepare for the next one: this measures one interactive user. */
const PAUSE_MS = 200

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS))

/** A shell that starts the program again and again. It reads its own clock before and after each run. */
export const shellLoop =
  (script: string): Contestant =>
  async (times) => {
    const loop = `for ((i = 0; i < ${times}; i++)); do s=$EPOCHREALTIME; { ${script}; } >/dev/null; echo $s $EPOCHREALTIME; sleep ${PAUSE_MS / 1000}; done`
    const { stdout } = await promisify(execFile)('/bin/bash', ['-c', loop], {
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    })
    return stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ').map(Number))
      .map(([from = 0, to = 0]) => (to - from) * 1000)
  }

/** The command line and limits of a language, in a sandbox without a grid. */
export const inRoom =
  (
    child: Child,
    { folder, language, code }: { folder: string; language: string; code: readonly string[] },
  ): Contestant =>
  async (times) => {
    const found = loadLanguages().find(({ name }) => name === language)
    if (found === undefined) throw new Error(`there is no ${language}`)
    const argv = found.run.argv.flatMap((word) => (word === '{file}' ? code : [word]))
    const { env, limits } = found.run
    return await child.ask({ folder, argv, env, limits, times, pauseMs: PAUSE_MS } satisfies RoomQuestion)
  }

export const onGrid =
  (
    url: string,
    taskFor: (number: number) => NewSnippet,
    isRight: (task: SnippetTaskView) => boolean = () => true,
  ): Contestant =>
  async (times) => {
    const client = snippetsClient({ url, clock: systemClock })
    const took: number[] = []
    for (let i = 0; i < times; i++) {
      await pause()
      const from = performance.now()
      const task = await client.run(taskFor(i))
      took.push(performance.now() - from)
      if (task.status !== 'completed' || task.result?.output !== 'hello\n' || !isRight(task))
        throw new Error(`a run went wrong: ${JSON.stringify(task).slice(0, 500)}`)
    }
    return took
  }
