import { afterAll, describe, expect, test } from 'vitest'
import type { CommandResult } from '../../model/command-task.ts'
import { NOT_SERVED, SERVED } from './programs.fixture.ts'
import { taskOf, warmBench } from './warm.fixture.ts'

const bench = await warmBench()
afterAll(() => bench[Symbol.asyncDispose]())
const has = async (language: 'python' | 'javascript'): Promise<boolean> =>
  bench.works && (await bench.cold(taskOf({ language, files: [''] }))).stages[0]?.cause === 'ok'
const here = { python: await has('python'), javascript: await has('javascript') }

/** All that a client can see, without times and resource usage. */
const seen = ({ stages, outputs }: CommandResult) => ({
  outputs,
  stages: stages.map(({ usage: _, stdout, stderr, ...rest }) => ({
    ...rest,
    stdout: text(stdout),
    stderr: text(stderr),
  })),
})

const text = ({ inline, ...rest }: CommandResult['stages'][number]['stdout']) => ({
  ...rest,
  inline: inline && Buffer.from(inline).toString(),
})

describe.each([
  ['found its interpreter waiting', SERVED, 1],
  ['finds none, and is', NOT_SERVED, 0],
] as const)('program: %s', (_, programs, served) => {
  for (const [name, program] of Object.entries(programs))
    test.runIf(here[program.language])(`a warm and a cold room give the same output and end: ${name}`, async () => {
      await using pool = bench.pool()
      const task = taskOf(program)
      pool.warm.expect([task])
      await pool.warm.settled()
      expect(seen(await pool.run(task))).toEqual(seen(await bench.cold(task)))
      expect(pool.served()).toBe(served)
    })
})
