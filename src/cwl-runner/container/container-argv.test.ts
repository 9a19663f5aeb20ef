import { expect, test } from 'vitest'
import type { ToolCommand } from '../../workflow/tool/tool-command.ts'
import { containerArgv } from './container-argv.ts'

const command = {
  argv: ['echo', 'hi'],
  env: { HOME: '/var/spool/cwl', WORDS: 'a=b, c' },
  room: { outdir: '/var/spool/cwl', tmpdir: '/tmp', inputsDir: '/in' },
  network: false,
} as unknown as ToolCommand
const order = { program: 'docker', image: 'alpine', name: 'windlass-1', command, mounts: [], hasInput: false }

test('a command in a container has no network, its own variables, and our user', () => {
  expect(containerArgv({ ...order, user: { uid: 7, gid: 8 } })).toEqual([
    'docker',
    'run',
    '--rm',
    '--name=windlass-1',
    '--workdir=/var/spool/cwl',
    '--network=none',
    '--user=7:8',
    '--env=HOME=/var/spool/cwl',
    '--env=WORDS=a=b, c',
    'alpine',
    'echo',
    'hi',
  ])
})

test('a path cannot say more about its mount than where it is', () => {
  const mounts = [{ source: '/data/a,"b",readonly=false', target: '/in/x', isWritable: false }]
  const argv = containerArgv({ ...order, mounts, user: undefined })
  expect(argv).toContain('--mount=type=bind,"source=/data/a,""b"",readonly=false",target=/in/x,readonly')
})

test('an image cannot be an option', () => {
  expect(() => containerArgv({ ...order, image: '--privileged', user: undefined })).toThrow('is no name of an image')
})
