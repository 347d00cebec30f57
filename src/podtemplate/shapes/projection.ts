// Normal form of projected volumes and of the file lists that several volume sources share.
import type {
  V1ClusterTrustBundleProjection,
  V1ConfigMapProjection,
  V1DownwardAPIProjection,
  V1DownwardAPIVolumeFile,
  V1KeyToPath,
  V1PodCertificateProjection,
  V1ProjectedVolumeSource,
  V1ServiceAccountTokenProjection,
  V1VolumeProjection,
} from "../../api/generated/kubernetes.ts";
import { fieldRef, resourceFieldRef } from "./container.ts";
import { labelSelector } from "./selector.ts";
import { listOf, object, pointer, pointerOr, scalar, texts } from "./shape.ts";

/** 0644: the mode of files whose volume names none. */
export const FILE_MODE = 0o644;
const TOKEN_LIFETIME_SECONDS = 3_600;

export const keyItems = listOf(object<V1KeyToPath>({ key: scalar, mode: pointer, path: scalar }));

export const downwardFiles = listOf(
  object<V1DownwardAPIVolumeFile>({ fieldRef, mode: pointer, path: scalar, resourceFieldRef }),
);

const keyed = object<V1ConfigMapProjection>({ items: keyItems, name: scalar, optional: pointer });

export const projected = object<V1ProjectedVolumeSource>({
  defaultMode: pointerOr(FILE_MODE),
  sources: listOf(
    object<V1VolumeProjection>({
      clusterTrustBundle: object<V1ClusterTrustBundleProjection>({
        labelSelector,
        name: pointer,
        optional: pointer,
        path: scalar,
        signerName: pointer,
      }),
      configMap: keyed,
      downwardAPI: object<V1DownwardAPIProjection>({ items: downwardFiles }),
      podCertificate: object<V1PodCertificateProjection>({
        certificateChainPath: scalar,
        credentialBundlePath: scalar,
        keyPath: scalar,
        keyType: scalar,
        maxExpirationSeconds: pointer,
        signerName: scalar,
        userAnnotations: texts,
      }),
      secret: keyed,
      serviceAccountToken: object<V1ServiceAccountTokenProjection>({
        audience: scalar,
        expirationSeconds: pointerOr(TOKEN_LIFETIME_SECONDS),
        path: scalar,
      }),
    }),
  ),
});
