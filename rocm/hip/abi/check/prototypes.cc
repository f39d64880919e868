// Compares the prototypes of abi.h with those of installed HIP and rocBLAS
// headers: the same number of parameters, each of the same kind and size. It is
// compiled and never run: make check. C++, because it takes functions apart.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#define __HIP_DISABLE_CPP_FUNCTIONS__ // no overloads
#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>
#include <hip/hiprtc.h>
#if __has_include(<rocblas/rocblas.h>)
#include <rocblas/rocblas.h>
#define HAVE_ROCBLAS 1
#endif

#if HIP_VERSION_MAJOR < 6
// Came with HIP 6, and the type of the plain name with it.
extern "C" hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_t *props, int device);
#endif

// No extern "C" here: they are functions of their own, to be compared.
namespace ours {
#include "../abi.h"
}

template <class T> using bare = std::remove_cv_t<std::remove_pointer_t<T>>;

// Whether a caller that passes an A passes a B as well. A void * of ours stands
// for any pointer; what other pointers point to must be alike.
template <class A, class B> constexpr bool alike()
{
    if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>)
        return std::is_void_v<bare<A>> || alike<bare<A>, bare<B>>();
    else if constexpr (std::is_floating_point_v<A> || std::is_floating_point_v<B>)
        return std::is_same_v<A, B>;
    else if constexpr ((std::is_integral_v<A> || std::is_enum_v<A>) && (std::is_integral_v<B> || std::is_enum_v<B>))
        return sizeof(A) == sizeof(B);
    else
        return std::is_void_v<A> && std::is_void_v<B>;
}

template <class R, class... A, class S, class... B> constexpr bool same(R (*)(A...), S (*)(B...))
{
    if constexpr (sizeof...(A) == sizeof...(B))
        return alike<R, S>() && (alike<A, B>() && ...);
    else
        return false;
}

// Is the comparison awake?
static_assert(same((int (*)(int, void *))nullptr, (hipError_t(*)(unsigned, float *))nullptr));
static_assert(!same((int (*)(int))nullptr, (hipError_t(*)(std::size_t))nullptr));
static_assert(!same((int (*)(int))nullptr, (hipError_t(*)(int, int))nullptr));
static_assert(!same((int (*)(int *))nullptr, (hipError_t(*)(std::size_t *))nullptr));
static_assert(!same((int (*)(int))nullptr, (hipError_t(*)(float))nullptr));
static_assert(!same((int (*)(int))nullptr, (hipError_t(*)(void *))nullptr));

#define COMPARE(name) static_assert(same(&ours::name, &::name), #name " is declared otherwise");
#include "exported_hip.inc" // COMPARE of every function of HIP and hiprtc in abi.h
#ifdef HAVE_ROCBLAS
#include "exported_rocblas.inc" // the same of rocBLAS
#endif
