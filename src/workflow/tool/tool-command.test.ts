import { describe, expect, test } from 'vitest'
import { loadTool } from '../documents.fixture.ts'
import { evaluatorFor } from '../expressions/evaluate.ts'
import { NO_SCOPE, scopeOf } from '../process/requirement.ts'
import type { ValueRecord } from '../values/value.ts'
import { compareKeys } from './command-line.ts'
import { exitClass, type ToolCommand, toolCommand } from './tool-command.ts'

const room = { outdir: '/out', tmpdir: '/tmp', inputsDir: '/in' }
const refusing = {
  run: () => {
    throw new Error('no JavaScript was needed')
  },
}

async function command(body: string, inputs: ValueRecord = {}): Promise<ToolCommand> {
  const tool = await loadTool(`cwlVersion: v1.2\nclass: CommandLineTool\noutputs: []\n${body}\n`)
  const scope = scopeOf(NO_SCOPE, tool)
  return toolCommand({ tool, scope, inputs, room, evaluator: evaluatorFor(refusing, scope, tool.version) })
}

const file = (name: string): ValueRecord => ({ class: 'File', location: `file:///d/${name}`, basename: name })

describe('command line', () => {
  test('arguments are ordered by position, then arguments before inputs, then by name', async () => {
    const { argv } = await command(
      `baseCommand: [cmd, sub]
arguments: [first, {position: 1, valueFrom: last}]
inputs: {b: {type: int, inputBinding: {}}, a: {type: int, inputBinding: {}}, z: {type: int, inputBinding: {position: -1}}}`,
      { a: 1, b: 2, z: 3 },
    )
    expect(argv).toEqual(['cmd', 'sub', '3', 'first', '1', '2', 'last'])
  })

  test.each<[string, ValueRecord, string[]]>([
    ['x: {type: int, inputBinding: {prefix: -x}}', { x: 1 }, ['-x', '1']],
    ['x: {type: int, inputBinding: {prefix: --x=, separate: false}}', { x: 1 }, ['--x=1']],
    ['x: {type: boolean, inputBinding: {prefix: -v}}', { x: true }, ['-v']],
    ['x: {type: boolean, inputBinding: {prefix: -v}}', { x: false }, []],
    ['x: {type: "int?", inputBinding: {prefix: -x}}', { x: null }, []],
    ['x: {type: "string[]", inputBinding: {prefix: -x}}', { x: ['a', 'b'] }, ['-x', 'a', 'b']],
    ['x: {type: "string[]", inputBinding: {prefix: -x, itemSeparator: ","}}', { x: ['a', 'b'] }, ['-x', 'a,b']],
    [
      'x: {type: "string[]", inputBinding: {prefix: -x, itemSeparator: ",", separate: false}}',
      { x: ['a', 'b'] },
      ['-xa,b'],
    ],
    [
      'x: {type: {type: array, items: string, inputBinding: {prefix: -y}}, inputBinding: {prefix: -x}}',
      { x: ['a', 'b'] },
      ['-x', '-y', 'a', '-y', 'b'],
    ],
    ['x: {type: "string[]", inputBinding: {prefix: -x}}', { x: [] }, []],
    ['x: {type: string, inputBinding: {valueFrom: "$(self)-$(inputs.x)"}}', { x: 'a' }, ['a-a']],
    [
      'x: {type: {type: record, fields: {b: {type: int, inputBinding: {position: 1}}, a: {type: int, inputBinding: {prefix: -a, position: 2}}}}, inputBinding: {prefix: -r}}',
      { x: { a: 1, b: 2 } },
      ['-r', '2', '-a', '1'],
    ],
    [
      'x: {type: [int, {type: record, name: R, fields: {f: {type: string, inputBinding: {prefix: -f}}}}]}',
      { x: { f: 'v' } },
      ['-f', 'v'],
    ],
    ['x: {type: double, inputBinding: {}}', { x: 1e-7 }, ['0.0000001']],
    [
      'x: {type: {type: array, items: {type: record, fields: {p: {type: int, inputBinding: {position: 2}}, q: {type: int, inputBinding: {position: 1}}}}}}',
      {
        x: [
          { p: 1, q: 2 },
          { p: 3, q: 4 },
        ],
      },
      ['2', '1', '4', '3'],
    ],
  ])('the inputs {%s} with %j give %j', async (inputs, given, argv) => {
    expect((await command(`inputs: {${inputs}}`, given)).argv).toEqual(argv)
  })

  test('with ShellCommandRequirement the command is one quoted line', async () => {
    const { argv } = await command(
      `requirements: {ShellCommandRequirement: {}}
inputs: {x: {type: string, inputBinding: {position: 1}}}
baseCommand: echo
arguments: [{valueFrom: "| wc", shellQuote: false, position: 2}]`,
      { x: "it's; rm -rf /" },
    )
    expect(argv).toEqual(['/bin/sh', '-c', `echo 'it'"'"'s; rm -rf /' | wc`])
  })

  test('compareKeys compares part by part, numbers before names, shorter before longer', () => {
    const keys = [[1], [0, 'b', 1], [0, 'b'], [0, 3], [0, 'a'], [-1, 'z']]
    expect(keys.sort(compareKeys)).toEqual([[-1, 'z'], [0, 3], [0, 'a'], [0, 'b'], [0, 'b', 1], [1]])
  })
})

describe('staging', () => {
  test('each input has its own directory, with its secondary files beside it', async () => {
    const { staged, argv } = await command('inputs: {x: {type: "File[]", inputBinding: {}}}', {
      x: [{ ...file('a.txt'), secondaryFiles: [file('a.idx')] }, file('a.txt')],
    })
    expect(argv).toEqual(['/in/0/a.txt', '/in/1/a.txt'])
    expect(staged.map(({ path }) => path)).toEqual(['/in/0/a.txt', '/in/0/a.idx', '/in/1/a.txt'])
  })

  test('literals are created, directories with their listing', async () => {
    const literal = {
      class: 'Directory',
      basename: 'dir',
      listing: [{ class: 'File', basename: 'f', contents: 'text' }, file('b')],
    }
    const { staged } = await command('inputs: {x: Directory}', { x: literal })
    expect(staged).toEqual([
      { kind: 'directory', path: '/in/0/dir', writable: false },
      { kind: 'text', path: '/in/0/dir/f', contents: 'text', writable: false },
      { kind: 'file', path: '/in/0/dir/b', location: 'file:///d/b', writable: false },
    ])
  })

  test.each(['../up', 'a/b', '..', 'nul\0'])('the basename %j is refused', async (basename) => {
    const listing = [{ class: 'File', basename, contents: '' }]
    await expect(
      command('inputs: {x: Directory}', { x: { class: 'Directory', basename: 'd', listing } }),
    ).rejects.toThrow(/cannot be a basename/)
  })
})

describe('InitialWorkDirRequirement', () => {
  const listing = (text: string): string =>
    `requirements: {InitialWorkDirRequirement: {listing: ${text}}}\ninputs: {x: File, n: "string?"}`

  test('an input is placed in the working directory under another name, and its path follows', async () => {
    const { staged, inputs } = await command(
      listing('[{entry: $(inputs.x), entryname: sub/new.txt, writable: true}]'),
      {
        x: file('a.txt'),
      },
    )
    expect(staged).toEqual([{ kind: 'file', path: '/out/sub/new.txt', location: 'file:///d/a.txt', writable: true }])
    expect(inputs.x).toMatchObject({ path: '/out/sub/new.txt', basename: 'new.txt', nameroot: 'new' })
  })

  test('text is written as it is, and any other value as JSON', async () => {
    const { staged } = await command(
      listing('[{entryname: a, entry: "n is $(inputs.n)\\n"}, {entryname: b, entry: "$(runtime)"}]'),
      { x: file('a'), n: 'v' },
    )
    expect(staged.slice(1)).toMatchObject([
      { path: '/out/a', contents: 'n is v\n' },
      { path: '/out/b', contents: expect.stringContaining('"cores": 1') },
    ])
  })

  test('a null entry is ignored', async () => {
    expect(
      (await command(listing('[$(inputs.n), {entryname: a, entry: $(inputs.n)}]'), { x: file('a'), n: null })).staged,
    ).toHaveLength(1)
  })

  test.each([
    ['{entryname: /etc/passwd, entry: x}', /is absolute; that needs DockerRequirement under requirements/],
    ['{entryname: ../x, entry: x}', /not within the working directory/],
    ['{entryname: a/../../x, entry: x}', /not within the working directory/],
    ['{entry: x}', /needs an entryname/],
    ['{entryname: "$(runtime.cores)", entry: x}', /an entryname must be text/],
    ['$(inputs.n)', /text needs an entryname/],
  ])('%s is refused', async (entry, words) => {
    await expect(
      command(listing(`[${entry.startsWith('$') ? entry : entry}]`), { x: file('a'), n: 'word' }),
    ).rejects.toThrow(words)
  })

  test('in a required container an entryname may be absolute', async () => {
    const text = `requirements: {DockerRequirement: {dockerPull: i}, InitialWorkDirRequirement: {listing: [{entryname: /etc/x, entry: y}]}}\ninputs: []`
    expect((await command(text)).staged).toMatchObject([{ path: '/etc/x' }])
  })
})

describe('other parts of a command', () => {
  test('resources have defaults, and fractions are rounded up for expressions', async () => {
    const { resources, runtime } = await command(
      'inputs: {n: int}\nrequirements: {ResourceRequirement: {coresMin: 1.5, ramMax: $(inputs.n)}}',
      { n: 99 },
    )
    expect(resources).toMatchObject({
      cores: { min: 1.5, max: 1.5 },
      ramMiB: { min: 99, max: 99 },
      outdirMiB: { min: 1024 },
    })
    expect(runtime).toEqual({ outdir: '/out', tmpdir: '/tmp', cores: 2, ram: 99, tmpdirSize: 1024, outdirSize: 1024 })
  })

  test('environment, streams, network, time limit, reuse and container are those of the tool', async () => {
    const made = await command(
      `inputs: {n: string}
stdin: /in/x
stdout: $(inputs.n).txt
requirements:
  EnvVarRequirement: {envDef: {A: "$(inputs.n)!"}}
  NetworkAccess: {networkAccess: true}
  ToolTimeLimit: {timelimit: 5}
  WorkReuse: {enableReuse: false}
  InplaceUpdateRequirement: {inplaceUpdate: true}
hints: {DockerRequirement: {dockerPull: "debian:12", dockerOutputDirectory: /o}}`,
      { n: 'v' },
    )
    expect(made).toMatchObject({
      env: { HOME: '/out', TMPDIR: '/tmp', A: 'v!' },
      stdin: '/in/x',
      stdout: 'v.txt',
      network: true,
      timeLimitSeconds: 5,
      reuse: false,
      inplaceUpdate: true,
      docker: { image: 'debian:12', outputDirectory: '/o', required: false },
    })
  })

  test.each(['/etc/passwd', '../x', 'a/../../b'])('stdout to %s is refused', async (name) => {
    await expect(command(`inputs: []\nstdout: ${name}`)).rejects.toThrow(/in the working directory/)
  })

  test('exitClass follows successCodes, temporaryFailCodes and permanentFailCodes', async () => {
    const tool = await loadTool(
      'cwlVersion: v1.2\nclass: CommandLineTool\ninputs: []\noutputs: []\nsuccessCodes: [3]\ntemporaryFailCodes: [75]\npermanentFailCodes: [0]\n',
    )
    expect([3, 75, 0, 1].map((code) => exitClass(tool, code))).toEqual([
      'success',
      'temporaryFailure',
      'permanentFailure',
      'permanentFailure',
    ])
  })
})
