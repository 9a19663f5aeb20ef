import { expect, test } from 'vitest'
import { hierarchiesOf } from './hierarchies.ts'

const mounts = (...lines: string[]): string => lines.map((line, i) => `${i + 30} 20 0:${i} ${line}\n`).join('')

test('with cgroup version 2 alone, the group is below the mount', () => {
  const mountinfo = mounts(
    '/ /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate',
    '/ / rw - ext4 /dev/sda rw',
  )
  expect(hierarchiesOf(mountinfo, '0::/system.slice/windlass.service\n')).toEqual([
    { version: 2, controllers: [], path: '/sys/fs/cgroup/system.slice/windlass.service' },
  ])
})

test('versions 1 and 2 are read side by side, with several controllers on one mount', () => {
  const mountinfo = mounts(
    '/ /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
    '/ /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct',
    '/ /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
    '/ /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd',
  )
  expect(hierarchiesOf(mountinfo, '3:cpu,cpuacct:/\n2:memory:/jobs/a b\n1:name=systemd:/x\n0::/\n')).toEqual([
    { version: 2, controllers: [], path: '/sys/fs/cgroup/unified' },
    { version: 1, controllers: ['cpu', 'cpuacct'], path: '/sys/fs/cgroup/cpu,cpuacct' },
    { version: 1, controllers: ['memory'], path: '/sys/fs/cgroup/memory/jobs/a b' },
    { version: 1, controllers: ['name=systemd'], path: '/sys/fs/cgroup/systemd/x' },
  ])
})

test('in a container only groups below the root of the mount are visible', () => {
  const mountinfo = mounts(
    '/docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory',
    '/../.. /cg\\040two rw - cgroup2 none rw',
  )
  expect(hierarchiesOf(mountinfo, '2:memory:/docker/abc/inner\n0::/../elsewhere\n')).toEqual([
    { version: 1, controllers: ['memory'], path: '/sys/fs/cgroup/memory/inner' },
  ])
  expect(hierarchiesOf(mountinfo, '2:memory:/docker/abcd\n')).toEqual([])
  expect(hierarchiesOf('', '')).toEqual([])
})
