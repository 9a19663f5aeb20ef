import { STATUS } from '../../../grpc/status.ts'
import { ensure, same, sameBytes, Unmet } from '../../unmet.ts'
import { encodedDirectory } from '../probe/actions.ts'
import type { Check, Probe } from '../probe/probe.ts'
import type { ExecutionId } from '../table/behaviours.ts'
import { endsWith, findOutputDirectory, findOutputFile, listed, read, runForStdout, textBlob } from './read-result.ts'

const ALLOWED = 2

/** Both fields, as sent by clients that support old and new servers. */
const paths = (...outputPaths: string[]) => ({ outputPaths })

const resultOf = async (
  probe: Probe,
  script: string,
  command: Parameters<Probe['executions']['store']>[0]['command'],
) => (await probe.executions.run({ script, ...(command && { command }) })).result

export const outputChecks = {
  async 'outputs.files'(probe) {
    const result = await resultOf(probe, 'printf content > out', paths('out'))
    same('digest', findOutputFile(result, 'out').digest.hash, textBlob(probe, 'content').digest.hash)
  },
  async 'outputs.in-cas'(probe) {
    const word = probe.random.word()
    const result = await resultOf(probe, `printf ${word} > out`, paths('out'))
    const { digest } = findOutputFile(result, 'out')
    ensure(!(await probe.isMissing(digest)), 'the output in the CAS', 'it is missing')
    sameBytes('content', await read(probe, digest), Buffer.from(word))
  },
  async 'outputs.executable'(probe) {
    const result = await resultOf(probe, 'printf a > tool; printf b > text; chmod +x tool', paths('text', 'tool'))
    same('is_executable of the tool', findOutputFile(result, 'tool').isExecutable, true)
    same('is_executable of the text', findOutputFile(result, 'text').isExecutable, false)
  },
  async 'outputs.parents'(probe) {
    const result = await resultOf(probe, 'printf x > a/b/out', paths('a/b/out'))
    same('exit code', result.exitCode, 0)
    findOutputFile(result, 'a/b/out')
  },
  async 'outputs.not-made'(probe) {
    const script = '[ -e a/out ] && printf there || printf nothing'
    same('before it starts:', await runForStdout(probe, { script, command: paths('a/out') }), 'nothing')
  },
  async 'outputs.missing'(probe) {
    const result = await resultOf(probe, 'printf x > made', paths('made', 'not-made'))
    same('exit code', result.exitCode, 0)
    same('outputs', listed(result.outputFiles), '"made"')
  },
  async 'outputs.undeclared'(probe) {
    const result = await resultOf(probe, 'printf x > one; printf x > other', paths('one'))
    same('outputs', listed(result.outputFiles), '"one"')
  },
  async 'outputs.relative'(probe) {
    const { digest } = await probe.put(probe.blobOf(encodedDirectory({})))
    const root = { directories: [{ name: 'sub', digest }] }
    const command = { ...paths('a/out'), workingDirectory: 'sub' }
    const { result } = await probe.executions.run({ script: 'printf x > a/out', root, command })
    same('outputs', listed(result.outputFiles), '"a/out"')
  },
  async 'outputs.paths-first'(probe) {
    const command = { outputPaths: ['new'], outputFiles: ['old'] }
    const result = await resultOf(probe, 'printf x > new; printf x > old', command)
    same('outputs', listed(result.outputFiles), '"new"')
  },
  async 'outputs.legacy-files'(probe) {
    const result = await resultOf(probe, 'printf content > a/out', { outputFiles: ['a/out'] })
    same('digest', findOutputFile(result, 'a/out').digest.hash, textBlob(probe, 'content').digest.hash)
  },
  async 'outputs.legacy-directories'(probe) {
    const result = await resultOf(probe, 'mkdir -p a/out; printf x > a/out/f', { outputDirectories: ['a/out'] })
    ensure(findOutputDirectory(result, 'a/out').treeDigest !== undefined, 'a tree_digest', 'none')
  },
  async 'outputs.legacy-mismatch'({ executions }) {
    const ending = await executions.try({ script: 'mkdir out', command: { outputFiles: ['out'] } })
    endsWith('it', ending, STATUS.failedPrecondition)
  },
  async 'outputs.links'(probe) {
    const result = await resultOf(probe, 'printf x > file; ln -s file link', paths('file', 'link'))
    same('links', linked(result.outputSymlinks), 'link -> file')
  },
  async 'outputs.dangling'(probe) {
    const result = await resultOf(probe, 'ln -s no/where link', paths('link'))
    same('links', linked(result.outputSymlinks), 'link -> no/where')
  },
  async 'outputs.legacy-links'(probe) {
    const result = await resultOf(probe, 'printf x > file; ln -s file link', { outputFiles: ['link'] })
    same('links', linked(result.outputFileSymlinks), 'link -> file')
  },
  async 'outputs.legacy-directory-links'(probe) {
    const result = await resultOf(probe, 'mkdir real; ln -s real link', { outputDirectories: ['link'] })
    same('links', linked(result.outputDirectorySymlinks), 'link -> real')
  },
  async 'outputs.absolute-link'(probe) {
    const order = { script: 'ln -s /etc link', command: paths('link') }
    if (probe.offer.cache.symlinkAbsolutePathStrategy === ALLOWED) {
      same('links', linked((await probe.executions.run(order)).result.outputSymlinks), 'link -> /etc')
    } else endsWith('it', await probe.executions.try(order), STATUS.failedPrecondition)
  },
  async 'outputs.unix-mode'(probe) {
    const command = { ...paths('out'), outputNodeProperties: ['unix_mode'] }
    const { nodeProperties } = findOutputFile(await resultOf(probe, 'printf x > out; chmod 640 out', command), 'out')
    if (nodeProperties?.unixMode === undefined) throw new Unmet('unix_mode', 'none')
    // With or without the file type bits of st_mode.
    same('mode', (nodeProperties.unixMode & 0o777).toString(8), '640')
  },
  async 'outputs.mtime'(probe) {
    const command = { ...paths('out'), outputNodeProperties: ['mtime'] }
    const result = await resultOf(probe, 'printf x > out; touch -t 200102030405.06 out', command)
    const seconds = findOutputFile(result, 'out').nodeProperties?.mtime?.seconds ?? 0
    // A day of tolerance: the time zone of the worker is unknown.
    ensure(Math.abs(seconds - 981_173_106) < 86_400, 'mtime 981173106, give or take a day', `${seconds}`)
  },
  async 'outputs.unknown-property'({ executions, random }) {
    const command = { ...paths('out'), outputNodeProperties: [`check-${random.word()}`] }
    endsWith('it', await executions.try({ command }), STATUS.invalidArgument)
  },
} satisfies Partial<Record<ExecutionId, Check>>

const linked = (links: readonly { readonly path: string; readonly target: string }[]): string =>
  links.map(({ path, target }) => `${path} -> ${target}`).join(', ') || 'none'
