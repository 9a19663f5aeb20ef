import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderOf, runIn, shellTool } from './documents.ts'
import { cwlHere, startCwl } from './run-here.ts'

const file = (glob: string) => ({ type: 'File', outputBinding: { glob } })

describe('windlass cwl run', () => {
  test('puts outputs into the output directory and prints their locations, sizes and checksums', async () => {
    const at = folderOf({ 'tool.cwl': shellTool('echo hello', { stdout: 'hello.txt', outputs: { out: 'stdout' } }) })
    const { outputs } = await runIn(at, 'tool.cwl')
    expect(outputs.out).toMatchObject({
      class: 'File',
      location: `file://${at}/out/hello.txt`,
      path: `${at}/out/hello.txt`,
      basename: 'hello.txt',
      size: 6,
      checksum: 'sha1$f572d396fae9206628714fb2ce00f72e94f2258f',
    })
    expect(readFileSync(`${at}/out/hello.txt`, 'utf8')).toBe('hello\n')
  })

  test('returns the results of a scatter in the order of its inputs, with distinct file names', async () => {
    const at = folderOf({
      'flow.cwl': JSON.stringify({
        cwlVersion: 'v1.2',
        class: 'Workflow',
        requirements: { ScatterFeatureRequirement: {} },
        inputs: { words: 'string[]' },
        outputs: { all: { type: 'File[]', outputSource: 'say/out' } },
        steps: { say: { run: 'say.cwl', scatter: 'word', in: { word: 'words' }, out: ['out'] } },
      }),
      'say.cwl': JSON.stringify({
        cwlVersion: 'v1.2',
        class: 'CommandLineTool',
        baseCommand: 'echo',
        inputs: { word: { type: 'string', inputBinding: {} } },
        outputs: { out: 'stdout' },
        stdout: 'said.txt',
      }),
      'job.json': JSON.stringify({ words: Array.from({ length: 20 }, (_, at) => `word ${at}`) }),
    })
    const { outputs } = await runIn(at, 'flow.cwl', 'job.json')
    const all = outputs.all as unknown as readonly { path: string; basename: string }[]
    expect(all.map(({ path }) => readFileSync(path, 'utf8'))).toEqual(
      Array.from({ length: 20 }, (_, at) => `word ${at}\n`),
    )
    expect(all.slice(0, 3).map(({ basename }) => basename)).toEqual(['said.txt', 'said_2.txt', 'said_3.txt'])
  })

  test('stores 6 MB of stdout in a file without truncation', async () => {
    const script = 'head -c 6000000 /dev/zero'
    const at = folderOf({ 'tool.cwl': shellTool(script, { stdout: 'zeros', outputs: { out: 'stdout' } }) })
    expect((await runIn(at, 'tool.cwl')).outputs.out?.size).toBe(6_000_000)
  })

  test('passes a file as standard input', async () => {
    const more = { inputs: { text: 'stdin' }, stdout: 'out', outputs: { out: 'stdout' } }
    const job = JSON.stringify({ text: { class: 'File', location: 'a file, with a comma.txt' } })
    const files = { 'tool.cwl': shellTool('tr a-z A-Z', more), 'job.json': job, 'a file, with a comma.txt': 'quiet' }
    const { outputs } = await runIn(folderOf(files), 'tool.cwl', 'job.json')
    expect(readFileSync(outputs.out?.path ?? '', 'utf8')).toBe('QUIET')
  })

  test('exits 1 and reports the exit code of a failed command', async () => {
    const at = folderOf({ 'tool.cwl': shellTool('exit 3') })
    expect(await runIn(at, 'tool.cwl')).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: 'windlass: the command ended with exit code 3\n',
    })
  })

  test('exits 1 and names a program that was not found', async () => {
    const tool = {
      cwlVersion: 'v1.2',
      class: 'CommandLineTool',
      baseCommand: 'no-such-program',
      inputs: {},
      outputs: {},
    }
    const end = await runIn(folderOf({ 'tool.cwl': JSON.stringify(tool) }), 'tool.cwl')
    expect(end.exitCode).toBe(1)
    expect(end.stderr).toContain('"no-such-program" was not found')
  })

  test('kills a command at its ToolTimeLimit and exits 1', async () => {
    const more = { requirements: { ToolTimeLimit: { timelimit: 1 } } }
    const end = await runIn(folderOf({ 'tool.cwl': shellTool('sleep 600', more) }), 'tool.cwl')
    expect(end.exitCode).toBe(1)
    expect(end.stderr).toMatch(/1 s|1000 ms|time/)
  })

  test('exits 33 when a required container is not available, and ignores one that is only a hint', async () => {
    const docker = { DockerRequirement: { dockerPull: 'docker.io/alpine:latest' } }
    const at = folderOf({
      'hard.cwl': shellTool('true', { requirements: docker }),
      'soft.cwl': shellTool('true', { hints: docker }),
    })
    expect(await runIn(at, 'hard.cwl')).toMatchObject({
      exitCode: 33,
      stderr: 'windlass: DockerRequirement cannot be met: containers are switched off\n',
    })
    expect((await runIn(at, 'soft.cwl')).exitCode).toBe(0)
  })

  test("takes the process from the input object's cwl:tool", async () => {
    const files = { 'tool.cwl': shellTool('true'), 'job.yml': 'cwl:tool: tool.cwl\n' }
    expect((await runIn(folderOf(files), 'job.yml')).exitCode).toBe(0)
  })

  test('evaluates JavaScript under InlineJavascriptRequirement', async () => {
    const tool = {
      cwlVersion: 'v1.2',
      class: 'ExpressionTool',
      requirements: { InlineJavascriptRequirement: {} },
      inputs: {},
      outputs: { sum: 'int' },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: that is how CWL writes JavaScript
      expression: '${ return { sum: [1, 2, 3].reduce(function (a, b) { return a + b }) } }',
    }
    const { outputs } = await runIn(folderOf({ 'tool.cwl': JSON.stringify(tool) }), 'tool.cwl')
    expect(outputs).toEqual({ sum: 6 })
  })
})

describe('files of a CWL run', () => {
  const input = { inputs: { text: 'File' } }
  const job = JSON.stringify({ text: { class: 'File', location: 'data.txt' } })

  test.each([
    ['a copy by default', {}, 'before'],
    ['the input itself where that is asked for', { InplaceUpdateRequirement: { inplaceUpdate: true } }, 'after'],
  ])('a writable input is %s', async (_, more, left) => {
    const listing = [{ entry: '$(inputs.text)', writable: true }]
    const requirements = { InitialWorkDirRequirement: { listing }, ...more }
    const tool = shellTool('printf after > data.txt', { ...input, requirements, outputs: { out: file('data.txt') } })
    const at = folderOf({ 'tool.cwl': tool, 'job.json': job, 'data.txt': 'before' })
    const { outputs } = await runIn(at, 'tool.cwl', 'job.json')
    expect(readFileSync(outputs.out?.path ?? '', 'utf8')).toBe('after')
    expect(readFileSync(`${at}/data.txt`, 'utf8')).toBe(left)
  })

  test('an output never overwrites an input', async () => {
    const tool = shellTool('printf new > data.txt', {
      ...input,
      words: ['$(inputs.text)'],
      outputs: { out: file('data.txt') },
    })
    const at = folderOf({
      'tool.cwl': tool,
      'job.json': job.replace('data.txt', 'out/data.txt'),
      'out/data.txt': 'old',
    })
    const { outputs } = await runIn(at, 'tool.cwl', 'job.json')
    expect(outputs.out?.basename).toBe('data_2.txt')
    expect(readFileSync(`${at}/out/data.txt`, 'utf8')).toBe('old')
  })

  test('an output replaces the file of an earlier run, and never the target of a symlink', async () => {
    const outputs = { x: file('x'), y: file('y') }
    const at = folderOf({ 'tool.cwl': shellTool('echo new >x; echo new >y', { outputs }), 'out/x': 'old', mine: 'old' })
    symlinkSync(`${at}/mine`, `${at}/out/y`)
    expect((await runIn(at, 'tool.cwl')).exitCode).toBe(0)
    expect(['out/x', 'out/y', 'mine'].map((name) => readFileSync(join(at, name), 'utf8'))).toEqual([
      'new\n',
      'new\n',
      'old',
    ])
  })

  test('a symlink out of the room is refused as an output', async () => {
    const at = folderOf({
      'tool.cwl': shellTool('ln -s /etc/hostname stolen', { outputs: { out: file('stolen') } }),
    })
    const end = await runIn(at, 'tool.cwl')
    expect(end.exitCode).toBe(1)
    expect(existsSync(`${at}/out/stolen`)).toBe(false)
  })

  test('a symlink to an input becomes a copy of the input in the output directory', async () => {
    const tool = shellTool('ln -s "$1" linked', {
      ...input,
      words: ['$(inputs.text.path)'],
      outputs: { out: file('linked') },
    })
    const at = folderOf({ 'tool.cwl': tool, 'job.json': job, 'data.txt': 'mine' })
    const { outputs } = await runIn(at, 'tool.cwl', 'job.json')
    writeFileSync(outputs.out?.path ?? '', 'changed')
    expect(readFileSync(`${at}/data.txt`, 'utf8')).toBe('mine')
  })

  test('secondary files move together with their primary file when its name is taken', async () => {
    const bam = { type: 'File', secondaryFiles: '.bai' }
    const outputs = {
      first: { ...bam, outputBinding: { glob: 'one/a.bam' } },
      second: { ...bam, outputBinding: { glob: 'two/a.bam' } },
    }
    const script = 'mkdir one two; for d in one two; do echo $d >$d/a.bam; echo $d >$d/a.bam.bai; done'
    const at = folderOf({ 'tool.cwl': shellTool(script, { outputs }) })
    const reported = (await runIn(at, 'tool.cwl')).outputs
    expect(reported.first?.path).toBe(`${at}/out/a.bam`)
    expect(reported.second?.path).toBe(`${at}/out/2/a.bam`)
    expect(reported.second?.secondaryFiles?.map(({ path }) => path)).toEqual([`${at}/out/2/a.bam.bai`])
    expect(readFileSync(`${at}/out/2/a.bam.bai`, 'utf8')).toBe('two\n')
  })

  test('an output directory contains all its files, and a symlink to a parent is left out', async () => {
    const script = 'mkdir -p d/e; echo 1 >d/x; echo 2 >d/e/y; ln -s .. d/e/up'
    const at = folderOf({
      'tool.cwl': shellTool(script, { outputs: { out: { type: 'Directory', outputBinding: { glob: 'd' } } } }),
    })
    const { outputs } = await runIn(at, 'tool.cwl')
    expect(outputs.out?.listing?.map(({ basename }) => basename)).toEqual(['e', 'x'])
    expect(readdirSync(`${at}/out/d`, { recursive: true }).sort()).toEqual(['e', 'e/y', 'x'])
  })
})

describe('an interactive CWL run', () => {
  test('ends its commands and deletes its rooms on Ctrl+C', async () => {
    const at = folderOf({ 'tool.cwl': shellTool('echo in $PWD; sleep 600') })
    let room: string | undefined
    const running = startCwl(['run', '--no-container', `--outdir=${at}/out`, join(at, 'tool.cwl')], {
      heard(text) {
        room ??= /in (\S+)/.exec(text)?.[1]
        if (room !== undefined) running.signals.emit('SIGINT', 'SIGINT')
      },
    })
    expect((await running.ended).exitCode).toBe(130)
    expect(room).toContain(tmpdir())
    expect(existsSync(room ?? '')).toBe(false)
  })

  test('ends an endless expression on Ctrl+C', async () => {
    const endless = 'Array.prototype.indexOf.call({ length: Number.MAX_SAFE_INTEGER }, 1)'
    const at = folderOf({
      'tool.cwl': JSON.stringify({
        ...{ cwlVersion: 'v1.2', class: 'ExpressionTool', requirements: { InlineJavascriptRequirement: {} } },
        ...{ inputs: {}, outputs: { out: 'Any' }, expression: `$({ out: ${endless} })` },
      }),
    })
    const running = startCwl(['run', `--outdir=${at}/out`, join(at, 'tool.cwl')])
    setTimeout(() => running.signals.emit('SIGINT', 'SIGINT'), 1000)
    expect((await running.ended).exitCode).toBe(130)
  })

  test('shows its progress on a terminal and filters escape sequences of commands', async () => {
    const at = folderOf({ 'tool.cwl': shellTool(String.raw`printf 'up\033[2Aand away\n' >&2`) })
    const words = ['run', '--no-container', `--outdir=${at}/out`, join(at, 'tool.cwl')]
    const { stderr } = await startCwl(words, { isTerminal: true }).ended
    expect(stderr).toContain('1 running, 0 done')
    expect(stderr).toContain('1 done')
    expect(stderr).not.toContain('\u001b[2A')
  })
})

describe('windlass cwl validate, graph and pack', () => {
  const flow = `cwlVersion: v1.2
class: Workflow
inputs:
  name: string
outputs:
  out:
    type: File
    outputSource: greet/out
steps:
  greet:
    run: greet.cwl
    in: { name: name }
    out: [out]
`
  const greet = JSON.stringify({
    cwlVersion: 'v1.2',
    class: 'CommandLineTool',
    baseCommand: 'echo',
    inputs: { name: { type: 'string', inputBinding: {} } },
    outputs: { out: 'stdout' },
    stdout: 'greeting',
  })

  test('validate reports an error with file, line and column', async () => {
    const at = folderOf({ 'flow.cwl': flow.replace('name: string', 'name: File'), 'greet.cwl': greet })
    const { exitCode, stderr } = await cwlHere('validate', join(at, 'flow.cwl'))
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(new RegExp(`^${at}/flow\\.cwl:\\d+:\\d+: `))
  })

  test('validate reports the class of each valid document', async () => {
    const at = folderOf({ 'flow.cwl': flow, 'greet.cwl': greet })
    const end = await cwlHere('validate', join(at, 'flow.cwl'), join(at, 'greet.cwl'))
    expect(end.exitCode).toBe(0)
    expect(end.stdout).toBe(`${at}/flow.cwl: a valid Workflow\n${at}/greet.cwl: a valid CommandLineTool\n`)
  })

  test('graph prints inputs, steps and outputs', async () => {
    const { stdout } = await cwlHere('graph', join(folderOf({ 'flow.cwl': flow, 'greet.cwl': greet }), 'flow.cwl'))
    expect(stdout).toContain('"in:name" -> "step:greet" [label = "name"]')
    expect(stdout).toContain('"step:greet" -> "out:out"')
  })

  test('pack writes a workflow that runs without its original documents', async () => {
    const packed = (await cwlHere('pack', join(folderOf({ 'flow.cwl': flow, 'greet.cwl': greet }), 'flow.cwl'))).stdout
    const at = folderOf({ 'packed.cwl': packed, 'job.yml': 'name: you' })
    const { outputs } = await runIn(at, 'packed.cwl', 'job.yml')
    expect(readFileSync(outputs.out?.path ?? '', 'utf8')).toBe('you\n')
  })
})
