import { expect, test } from 'vitest'
import { type CommandTaskSpec, hasSucceeded } from '../../src/model/command-task.ts'
import { startGrid } from '../workers/grid.ts'
import { contentOf } from '../workers/told-results.ts'
import { workerHere } from '../workers/worker-here.ts'
import { fileOf, runCommand, sh, stageOf, textOf } from './commands.ts'

async function ran(options: CommandTaskSpec) {
  const grid = await startGrid()
  await workerHere(grid.address, { WINDLASS_WORKER_BACKEND: 'host' })
  return { grid, ...(await runCommand(grid, options)) }
}

test('files of any stage that match the output globs are stored, singly and as a directory', async () => {
  const { grid, result } = await ran({
    stages: [
      sh('mkdir -p out/d; echo 1 > out/1.txt', { name: 'make' }),
      sh('echo 2 > out/d/2.txt; echo 3 > out/3.log'),
    ],
    inputs: { files: [fileOf('in.txt', 'input')] },
    outputs: { globs: ['out/**/*.txt'] },
  })
  expect(result.outputs.files.map(({ path }) => path)).toEqual(['out/1.txt', 'out/d/2.txt'])
  const contents = await Promise.all(result.outputs.files.map(({ digest }) => contentOf(grid.blobs, digest)))
  expect(contents).toEqual(['1\n', '2\n'])
  expect(await contentOf(grid.blobs, result.outputs.root)).toContain('out')
})

test.each<[string, string, string]>([
  ['a symlink to a file of the machine', 'ln -s /etc/passwd stolen', 'the output "stolen" is a symlink'],
  ['a symlink that climbs', 'ln -s ../../../../etc/passwd stolen', 'the output "stolen" is a symlink'],
  ['a directory that is another', 'ln -s /etc stolen', 'the output "stolen" is a symlink'],
  ['a named pipe', 'mkfifo stolen', 'neither a file nor a directory nor a symlink'],
  ['a directory with a link in it', 'mkdir stolen; ln -s /etc/passwd stolen/x', 'the output "stolen/x" is a symlink'],
])('%s is refused as an output, and stdout is still returned', async (_, script, words) => {
  const { status, result } = await ran({ stages: [sh(`${script}; echo said`)], outputs: { globs: ['stolen'] } })
  expect(status.state).toBe('completed')
  expect(result.outputs).toMatchObject({ root: undefined, files: [] })
  expect(result.outputs.problem).toContain(words)
  expect(hasSucceeded(result)).toBe(false)
  expect(textOf(stageOf(result).stdout)).toBe('said\n')
})

test('an output path whose directory was replaced by a symlink out of the room is refused', async () => {
  const { result } = await ran({
    stages: [sh('mkdir d; echo mine > d/passwd', { name: 'make' }), sh('rm -r d; ln -s /etc d')],
    outputs: { paths: ['d/passwd'], symlinks: 'follow' },
  })
  expect(result.outputs.problem).toContain('lies behind a symlink that leads out of the room')
})

test('outputs above the limits of files and bytes are refused', async () => {
  const many = await ran({
    stages: [sh('for i in 1 2 3 4; do echo $i > f$i; done')],
    outputs: { globs: ['f*'], mostFiles: 3 },
  })
  expect(many.result.outputs.problem).toBe('the outputs are more than 3 files')
  const large = await ran({
    stages: [sh('head -c 1000 /dev/zero > f')],
    outputs: { paths: ['f'], mostBytes: 999 },
  })
  expect(large.result.outputs.problem).toBe('the outputs have more than 999 bytes')
})

test('a stage above its memory limit ends as out-of-memory', async () => {
  const { result } = await ran({
    stages: [sh('exec tail -n 1 /dev/zero', { limits: { memoryBytes: 64 * 1024 * 1024 } })],
  })
  expect(stageOf(result)).toMatchObject({ cause: 'out-of-memory' })
})
