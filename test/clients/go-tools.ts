/** Clients that are published as Go modules. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type GoProgram, obtainGoProgram } from '../../bench/cache/peers/go-program.ts'
import { type Client, Skip } from './client.ts'
import { runCommand } from './run-command.ts'

const SDK = 'github.com/bazelbuild/remote-apis-sdks/go/cmd'
const TOOLS = 'github.com/toolchainlabs/remote-api-tools/cmd'
const BLOB_BYTES = 5_000_000

function obtain(program: GoProgram): string {
  const obtained = obtainGoProgram(program)
  if ('absent' in obtained) throw new Skip(obtained.absent)
  return obtained.program
}

const remotetool: Client = {
  name: 'remotetool (Go SDK)',
  async check(server, folder) {
    const program = obtain({ name: 'remotetool', from: `${SDK}/remotetool@latest` })
    const blob = Buffer.alloc(BLOB_BYTES, 'remotetool ')
    const digest = `${createHash('sha256').update(blob).digest('hex')}/${blob.length}`
    writeFileSync(join(folder, 'up'), blob)
    const common = [`--service=${server}`, '--service_no_security', '--instance=', '--alsologtostderr']
    const run = (args: readonly string[]) => runCommand({ program, args: [...common, ...args], env: { HOME: folder } })
    await run(['--operation=upload_blob', `--path=${join(folder, 'up')}`])
    await run(['--operation=download_blob', `--digest=${digest}`, `--path=${join(folder, 'down')}`])
    assert.ok(readFileSync(join(folder, 'down')).equals(blob), 'the blob came back different')
    return 'a blob up and down'
  },
}

const casload: Client = {
  name: 'casload (remote-api-tools)',
  async check(server) {
    const program = obtain({ name: 'casload', from: `${TOOLS}/casload@latest` })
    const output = await runCommand({ program, args: ['--remote', server, '500:1024:200000'] })
    assert.match(output, /success: 500\n\s*errors: 0/)
    return '500 uploads, no error'
  },
}

const smoketest: Client = {
  name: 'smoketest (remote-api-tools)',
  async check(server) {
    const program = obtain({ name: 'smoketest', from: `${TOOLS}/smoketest@latest` })
    const args = ['--remote', server, '--platform', 'OSFamily=linux', '--timeout-secs', '60']
    const output = await runCommand({ program, args }).catch((error: Error) => {
      // It is about execution: a server that only caches cannot pass it.
      if (/execute error|stream recv.*Unimplemented/.test(error.message)) throw new Skip('the server does not execute')
      throw error
    })
    assert.match(output, /smoke test succeeded/)
    return 'an action stored, run and found in the cache'
  },
}

export const GO_TOOLS: readonly Client[] = [remotetool, casload, smoketest]
