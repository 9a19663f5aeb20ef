/** Clients written in Go, found on PATH: none of them is available as a package. */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findOnPath } from '../../bench/cache/peers/on-path.ts'
import { type Client, Skip } from './client.ts'
import { inWords, runCommand, runToEnd } from './run-command.ts'

const SDK = 'github.com/bazelbuild/remote-apis-sdks'
const TOOLS = 'github.com/toolchainlabs/remote-api-tools'
const BLOB_BYTES = 5_000_000

function obtain(name: string, home: string): string {
  const obtained = findOnPath({ name, home })
  if ('absent' in obtained) throw new Skip(obtained.absent)
  return obtained.program
}

const remotetool: Client = {
  name: 'remotetool (Go SDK)',
  async check(server, folder) {
    const program = obtain('remotetool', SDK)
    const common = [`--service=${server}`, '--service_no_security', '--instance=', '--alsologtostderr']
    const run = (operation: string, args: readonly string[]) =>
      runCommand({ program, args: [...common, `--operation=${operation}`, ...args], env: { HOME: folder } })
    const place = (name: string): string => join(folder, name)

    const blob = Buffer.alloc(BLOB_BYTES, 'remotetool ')
    const digest = `${createHash('sha256').update(blob).digest('hex')}/${blob.length}`
    writeFileSync(place('up'), blob)
    await run('upload_blob', [`--path=${place('up')}`])
    await run('download_blob', [`--digest=${digest}`, `--path=${place('down')}`])
    assert.ok(readFileSync(place('down')).equals(blob), 'the blob came back different')

    mkdirSync(place('tree/deep/er'), { recursive: true })
    const files = { 'large.bin': blob, 'deep/empty': Buffer.alloc(0), 'deep/er/small.txt': Buffer.from('small\n') }
    for (const [name, content] of Object.entries(files)) writeFileSync(join(place('tree'), name), content)
    const printed = await run('upload_dir', [`--path=${place('tree')}`])
    const root = /Directory root digest: (\S+)/.exec(printed)?.[1]
    await run('download_dir', [`--digest=${root}`, `--path=${place('copy')}`])
    for (const [name, content] of Object.entries(files)) {
      assert.ok(readFileSync(join(place('copy'), name)).equals(content), `${name} came back different`)
    }
    return `a blob, and ${Object.keys(files).length} files in 3 folders, up and down`
  },
}

/** casload streams blobs from half a MiB on and batches smaller ones: these actions do both. */
const CASLOAD_ACTIONS = ['generate:200:1024:1048576', 'read:200:2']

const casload: Client = {
  name: 'casload (remote-api-tools)',
  async check(server) {
    const output = await runCommand({
      program: obtain('casload', TOOLS),
      // Without an instance name casload puts a slash before resource names, which the specification does not allow.
      args: ['--remote', server, ...CASLOAD_ACTIONS],
    })
    const tally = (count: number) =>
      RegExp(`success: ${count}\\s+errors: 0\\s+byteStream\\w+: [1-9]\\d*\\s+blob\\w+: [1-9]`)
    assert.match(output, tally(200))
    assert.match(output, tally(400))
    return '200 uploads and 400 downloads, streamed and in batches'
  },
}

const smoketest: Client = {
  name: 'smoketest (remote-api-tools)',
  async check(server) {
    const program = obtain('smoketest', TOOLS)
    const args = ['--remote', server, '--platform', 'OSFamily=linux', '--timeout-secs', '60']
    const output = await runCommand({ program, args }).catch((error: Error) => {
      // smoketest tests execution: a server with a cache only cannot pass it.
      if (/(execute error|stream recv).*Unimplemented/.test(error.message))
        throw new Skip('the server does not execute')
      throw error
    })
    assert.match(output, /smoke test succeeded/)
    return 'an action stored, run and found in the cache'
  },
}

const rexec: Client = {
  name: 'rexec (Go SDK), remote execution',
  async check(server, folder) {
    const program = obtain('rexec', SDK)
    const word = randomUUID()
    writeFileSync(join(folder, 'in.txt'), `${word}\n`)
    const common = [`--service=${server}`, '--service_no_security', '--instance=', '--platform=OSFamily=linux']
    const paths = [`--exec_root=${folder}`, '--inputs=in.txt', '--output_files=made.txt']
    const run = (script: string) =>
      runToEnd({ program, args: [...common, ...paths, '--', '/bin/sh', '-c', script], env: { HOME: folder } })
    const script = 'rev < in.txt > made.txt; echo done $((40 + 2))'
    for (const time of ['the first', 'the second']) {
      rmSync(join(folder, 'made.txt'), { force: true })
      const good = await run(script)
      assert.equal(good.code, 0, `${time} time: ${inWords(good)}`)
      assert.match(good.output, /done 42/, `what the command printed did not come back ${time} time:\n${good.output}`)
      assert.equal(readFileSync(join(folder, 'made.txt'), 'utf8'), `${[...word].reverse().join('')}\n`)
    }
    const bad = await run('echo too heavy >&2; exit 7')
    // rexec itself exits with 0, whatever the exit code of the command.
    assert.match(bad.output, /exit code 7/, `the exit code did not come back: ${inWords(bad)}`)
    assert.match(bad.output, /too heavy/)
    return 'an output, what was printed, and an exit code came back'
  },
}

const DETERMINED = 3

/** An action that remotetool builds from files, executes, and executes again to check that the outputs are the same. */
const remotetoolExecuting: Client = {
  name: 'remotetool (Go SDK), remote execution',
  async check(server, folder) {
    const program = obtain('remotetool', SDK)
    const root = join(folder, 'action')
    mkdirSync(join(root, 'input'), { recursive: true })
    writeFileSync(join(root, 'input/in.txt'), `${randomUUID()}\n`)
    const script = 'tr a-f A-F < in.txt > made.txt'
    const platform = 'platform { properties { name: "OSFamily" value: "linux" } }\n'
    const words = ['/bin/sh', '-c', script].map((word) => `arguments: "${word}"\n`).join('')
    writeFileSync(join(root, 'cmd.textproto'), `${words}output_files: "made.txt"\n${platform}`)
    writeFileSync(join(root, 'ac.textproto'), '')
    const common = [`--service=${server}`, '--service_no_security', '--instance=', '--alsologtostderr']
    const run = (operation: string, args: readonly string[]) =>
      runCommand({ program, args: [...common, `--operation=${operation}`, ...args], env: { HOME: folder } })
    const out = join(folder, 'out')
    const printed = await run('execute_action', [`--action_root=${root}`, `--path=${out}`])
    assert.match(readFileSync(join(out, 'made.txt'), 'utf8'), /^[0-9A-F-]{36}\n$/)
    const digest = /[Aa]ction digest:? (\S+\/\d+)/.exec(printed)?.[1]
    assert.ok(digest !== undefined, `it named no action:\n${printed}`)
    await run('check_determinism', [`--digest=${digest}`, `--exec_attempts=${DETERMINED}`])
    return `an action run, and run again ${DETERMINED} times with the same outputs`
  },
}

export const GO_TOOLS: readonly Client[] = [remotetool, remotetoolExecuting, rexec, casload, smoketest]
