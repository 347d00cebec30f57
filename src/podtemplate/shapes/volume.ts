// Normal form of a pod volume: every source that Kubernetes knows, with the API server's defaults.
import type {
  V1AWSElasticBlockStoreVolumeSource,
  V1AzureDiskVolumeSource,
  V1AzureFileVolumeSource,
  V1CephFSVolumeSource,
  V1CinderVolumeSource,
  V1ConfigMapVolumeSource,
  V1CSIVolumeSource,
  V1DownwardAPIVolumeSource,
  V1EmptyDirVolumeSource,
  V1FCVolumeSource,
  V1FlexVolumeSource,
  V1FlockerVolumeSource,
  V1GCEPersistentDiskVolumeSource,
  V1GitRepoVolumeSource,
  V1GlusterfsVolumeSource,
  V1HostPathVolumeSource,
  V1ImageVolumeSource,
  V1ISCSIVolumeSource,
  V1LocalObjectReference,
  V1NFSVolumeSource,
  V1PersistentVolumeClaimVolumeSource,
  V1PhotonPersistentDiskVolumeSource,
  V1PortworxVolumeSource,
  V1QuobyteVolumeSource,
  V1RBDVolumeSource,
  V1ScaleIOVolumeSource,
  V1SecretVolumeSource,
  V1StorageOSVolumeSource,
  V1Volume,
  V1VsphereVirtualDiskVolumeSource,
} from "../../api/generated/kubernetes.ts";
import { defaultPullPolicy } from "../image-reference.ts";
import { ephemeral } from "./claim.ts";
import { downwardFiles, FILE_MODE, keyItems, projected } from "./projection.ts";
import {
  type FieldShapes,
  listOf,
  object,
  pointer,
  pointerOr,
  quantity,
  scalar,
  scalarOr,
  scalars,
  texts,
} from "./shape.ts";

export const localRef = object<V1LocalObjectReference>({ name: scalar });
const defaultMode = pointerOr(FILE_MODE);

const VOLUME: FieldShapes<V1Volume> = {
  awsElasticBlockStore: object<V1AWSElasticBlockStoreVolumeSource>({
    fsType: scalar,
    partition: scalar,
    readOnly: scalar,
    volumeID: scalar,
  }),
  azureDisk: object<V1AzureDiskVolumeSource>({
    cachingMode: pointerOr("ReadWrite"),
    diskName: scalar,
    diskURI: scalar,
    fsType: pointerOr("ext4"),
    kind: pointerOr("Shared"),
    readOnly: pointerOr(false),
  }),
  azureFile: object<V1AzureFileVolumeSource>({ readOnly: scalar, secretName: scalar, shareName: scalar }),
  cephfs: object<V1CephFSVolumeSource>({
    monitors: scalars,
    path: scalar,
    readOnly: scalar,
    secretFile: scalar,
    secretRef: localRef,
    user: scalar,
  }),
  cinder: object<V1CinderVolumeSource>({ fsType: scalar, readOnly: scalar, secretRef: localRef, volumeID: scalar }),
  configMap: object<V1ConfigMapVolumeSource>({ defaultMode, items: keyItems, name: scalar, optional: pointer }),
  csi: object<V1CSIVolumeSource>({
    driver: scalar,
    fsType: pointer,
    nodePublishSecretRef: localRef,
    readOnly: pointer,
    volumeAttributes: texts,
  }),
  downwardAPI: object<V1DownwardAPIVolumeSource>({ defaultMode, items: downwardFiles }),
  emptyDir: object<V1EmptyDirVolumeSource>({ medium: scalar, sizeLimit: quantity }),
  ephemeral,
  fc: object<V1FCVolumeSource>({
    fsType: scalar,
    lun: pointer,
    readOnly: scalar,
    targetWWNs: scalars,
    wwids: scalars,
  }),
  flexVolume: object<V1FlexVolumeSource>({
    driver: scalar,
    fsType: scalar,
    options: texts,
    readOnly: scalar,
    secretRef: localRef,
  }),
  flocker: object<V1FlockerVolumeSource>({ datasetName: scalar, datasetUUID: scalar }),
  gcePersistentDisk: object<V1GCEPersistentDiskVolumeSource>({
    fsType: scalar,
    partition: scalar,
    pdName: scalar,
    readOnly: scalar,
  }),
  gitRepo: object<V1GitRepoVolumeSource>({ directory: scalar, repository: scalar, revision: scalar }),
  glusterfs: object<V1GlusterfsVolumeSource>({ endpoints: scalar, path: scalar, readOnly: scalar }),
  hostPath: object<V1HostPathVolumeSource>({ path: scalar, type: pointerOr("") }),
  image: object<V1ImageVolumeSource>({ pullPolicy: scalar, reference: scalar }, fillImagePullPolicy),
  iscsi: object<V1ISCSIVolumeSource>({
    chapAuthDiscovery: scalar,
    chapAuthSession: scalar,
    fsType: scalar,
    initiatorName: pointer,
    iqn: scalar,
    iscsiInterface: scalarOr("default"),
    lun: scalar,
    portals: scalars,
    readOnly: scalar,
    secretRef: localRef,
    targetPortal: scalar,
  }),
  name: scalar,
  nfs: object<V1NFSVolumeSource>({ path: scalar, readOnly: scalar, server: scalar }),
  persistentVolumeClaim: object<V1PersistentVolumeClaimVolumeSource>({ claimName: scalar, readOnly: scalar }),
  photonPersistentDisk: object<V1PhotonPersistentDiskVolumeSource>({ fsType: scalar, pdID: scalar }),
  portworxVolume: object<V1PortworxVolumeSource>({ fsType: scalar, readOnly: scalar, volumeID: scalar }),
  projected,
  quobyte: object<V1QuobyteVolumeSource>({
    group: scalar,
    readOnly: scalar,
    registry: scalar,
    tenant: scalar,
    user: scalar,
    volume: scalar,
  }),
  rbd: object<V1RBDVolumeSource>({
    fsType: scalar,
    image: scalar,
    keyring: scalarOr("/etc/ceph/keyring"),
    monitors: scalars,
    pool: scalarOr("rbd"),
    readOnly: scalar,
    secretRef: localRef,
    user: scalarOr("admin"),
  }),
  scaleIO: object<V1ScaleIOVolumeSource>({
    fsType: scalarOr("xfs"),
    gateway: scalar,
    protectionDomain: scalar,
    readOnly: scalar,
    secretRef: localRef,
    sslEnabled: scalar,
    storageMode: scalarOr("ThinProvisioned"),
    storagePool: scalar,
    system: scalar,
    volumeName: scalar,
  }),
  secret: object<V1SecretVolumeSource>({ defaultMode, items: keyItems, optional: pointer, secretName: scalar }),
  storageos: object<V1StorageOSVolumeSource>({
    fsType: scalar,
    readOnly: scalar,
    secretRef: localRef,
    volumeName: scalar,
    volumeNamespace: scalar,
  }),
  vsphereVolume: object<V1VsphereVirtualDiskVolumeSource>({
    fsType: scalar,
    storagePolicyID: scalar,
    storagePolicyName: scalar,
    volumePath: scalar,
  }),
};

/** A volume that names no source is an emptyDir. */
export const volumes = listOf(
  object(VOLUME, (normal) => {
    if (Object.keys(normal).every((key) => key === "name")) normal["emptyDir"] = {};
  }),
);

function fillImagePullPolicy(normal: Record<string, unknown>): void {
  const { reference, pullPolicy } = normal;
  if (pullPolicy === undefined) {
    normal["pullPolicy"] = defaultPullPolicy(typeof reference === "string" ? reference : "");
  }
}
