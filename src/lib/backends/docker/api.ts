/** The parts of the engine's answers that are read. Docker Engine API 1.41; Podman leaves some of them out. */

/** `GET /containers/{id}/json`. */
export interface Inspected {
  readonly Id: string;
  /** With a slash before it. */
  readonly Name: string;
  readonly Created: string;
  readonly Image: string;
  readonly State: {
    readonly Status?: string;
    readonly Running?: boolean;
    readonly Paused?: boolean;
    readonly OOMKilled?: boolean;
    readonly StartedAt?: string;
    readonly FinishedAt?: string;
    readonly ExitCode?: number;
  };
  readonly Config: ContainerConfig;
  readonly HostConfig: HostConfig;
  readonly NetworkSettings?: {
    readonly Ports?: Readonly<Record<string, readonly PortBinding[] | null>> | null;
    readonly Networks?: Readonly<Record<string, { readonly IPAddress?: string }>> | null;
  };
}

export interface ContainerConfig {
  readonly Hostname?: string;
  readonly User?: string;
  readonly Tty?: boolean;
  readonly Env?: readonly string[] | null;
  readonly Cmd?: readonly string[] | null;
  readonly Entrypoint?: readonly string[] | null;
  readonly Image?: string;
  readonly WorkingDir?: string;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly ExposedPorts?: Readonly<Record<string, object>> | null;
}

export interface HostConfig {
  readonly NanoCpus?: number;
  readonly Memory?: number;
  readonly MemorySwap?: number;
  readonly PidsLimit?: number | null;
  readonly NetworkMode?: string;
  readonly Runtime?: string;
  readonly Binds?: readonly string[] | null;
  readonly PortBindings?: Readonly<Record<string, readonly PortBinding[] | null>> | null;
  readonly Mounts?: readonly Mount[] | null;
}

export interface Mount {
  readonly Type: string;
  readonly Source: string;
  readonly Target: string;
  readonly ReadOnly: boolean;
}

export interface PortBinding {
  readonly HostIp?: string;
  readonly HostPort?: string;
}

/** An item of `GET /containers/json`. */
export interface Listed {
  readonly Id: string;
  readonly Names?: readonly string[] | null;
  readonly Image?: string;
  /** Seconds. */
  readonly Created: number;
  readonly State?: string;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly HostConfig?: { readonly NetworkMode?: string };
  readonly Ports?: readonly {
    readonly IP?: string;
    readonly PrivatePort?: number;
    readonly PublicPort?: number;
    readonly Type?: string;
  }[];
}

/** An item of `GET /images/json`. */
export interface ListedImage {
  readonly Id: string;
  readonly RepoTags?: readonly string[] | null;
  readonly Size?: number;
  readonly Containers?: number;
  readonly Labels?: Readonly<Record<string, string>> | null;
}

/** `GET /images/{name}/json`. */
export interface InspectedImage {
  readonly Id: string;
  readonly Config?: ContainerConfig | null;
}

/** `GET /exec/{id}/json`. `ExitCode` of one that runs is null, in Podman 0. */
export interface InspectedExec {
  readonly Running?: boolean;
  readonly ExitCode?: number | null;
  /** Process id on the engine's machine; 0 when it never came to be. */
  readonly Pid?: number;
}

/** A line of `GET /events`. */
export interface EngineEvent {
  readonly Action?: string;
  /** Labels of the container are among the attributes. */
  readonly Actor?: { readonly Attributes?: Readonly<Record<string, string>> };
}
