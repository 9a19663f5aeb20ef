import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { firstRunnable } from '../run/first-runnable.ts'

/** Why this process cannot make the namespaces that rooms need, and what an administrator can do about it. */
export interface NamespaceProblem {
  readonly cause: string
  readonly remedy: string
}

/** The facts for the diagnosis, so that a test can stand for any kernel and container. */
export interface KernelView {
  /** The text of a file, without the newline at its end; undefined when it cannot be read. */
  read(path: string): string | undefined
  exists(path: string): boolean
  /** The error output of unshare(1); undefined when it worked, or is not installed. */
  unshare(...flags: readonly string[]): Promise<string | undefined>
}

/**
 * Returns undefined when namespaces work here, because the cause is another one then. The order is from the most to the
 * least certain: unshare(2) returns EPERM for most causes, and only the settings show which one it is.
 */
export async function namespaceProblem(kernel: KernelView = thisKernel): Promise<NamespaceProblem | undefined> {
  const refused = await kernel.unshare('--user', 'true')
  if (refused !== undefined) return userProblem(kernel, refused)
  const masked = await kernel.unshare('--user', '--map-root-user', '--mount', '--pid', '--fork', '--mount-proc', 'true')
  return masked === undefined ? undefined : { cause: `a new /proc cannot be mounted (${masked})`, remedy: MASKED }
}

const MASKED =
  'start the container with an unmasked /proc: docker run --security-opt systempaths=unconfined, or procMount: Unmasked in Kubernetes'
const UNCONFINED =
  'start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined, or in Kubernetes with seccompProfile: Unconfined and procMount: Unmasked'

function userProblem(kernel: KernelView, refused: string): NamespaceProblem {
  const problem = (cause: string, remedy: string): NamespaceProblem => ({ cause: `${cause} (${refused})`, remedy })
  if (!kernel.exists('/proc/self/ns/user'))
    return problem('this kernel has no user namespaces (CONFIG_USER_NS is off)', 'use a kernel with CONFIG_USER_NS')
  const setting = SETTINGS.find(({ path, off }) => kernel.read(path) === off)
  if (setting !== undefined)
    return problem(`user namespaces are turned off (${setting.name} = ${setting.off})`, setting.remedy)
  if (refused.includes('No space left'))
    return problem(
      'no further user namespace is allowed, here or in an outer container (user.max_user_namespaces)',
      'raise user.max_user_namespaces where it is set, which may be outside this container',
    )
  if (/^Seccomp:\s*2$/m.test(kernel.read('/proc/self/status') ?? ''))
    return problem('the seccomp filter of this container or service forbids new user namespaces', UNCONFINED)
  return problem('the kernel or a security module forbids new user namespaces', UNCONFINED)
}

const SETTINGS = [
  {
    path: '/proc/sys/user/max_user_namespaces',
    name: 'user.max_user_namespaces',
    off: '0',
    remedy: 'sysctl -w user.max_user_namespaces=15000, as root',
  },
  {
    path: '/proc/sys/kernel/unprivileged_userns_clone',
    name: 'kernel.unprivileged_userns_clone',
    off: '0',
    remedy: 'sysctl -w kernel.unprivileged_userns_clone=1, as root',
  },
  {
    path: '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
    name: 'kernel.apparmor_restrict_unprivileged_userns',
    off: '1',
    remedy: 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, as root, or an AppArmor profile with userns',
  },
] as const

const thisKernel: KernelView = {
  read(path) {
    try {
      return readFileSync(path, 'utf8').trimEnd()
    } catch {
      return undefined
    }
  },
  exists: existsSync,
  async unshare(...flags) {
    const program = await firstRunnable('unshare')
    if (program === undefined) return undefined
    return await new Promise((resolve) => {
      execFile(program, flags, { env: {}, timeout: 10_000 }, (error, _, words) => {
        resolve(error === null ? undefined : words.trim().split('\n')[0] || error.message)
      })
    })
  },
}
